#!/bin/bash
# Inline chains, linkage names, files and lines equal llvm-symbolizer's on every address tried, for each way to build and
# to carry DWARF; answers by several threads, from the cache and without inlines too.
cd "$(dirname "$0")" || exit 1
for t in llvm-symbolizer g++ clang++ dwz objcopy nm python3; do
	command -v $t >/dev/null || { echo "$t is missing"; exit 77; }
done
symbolize=$TOP/$B/tests/bench/symbolize
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
unset SYMBOLIZE_ID DEBUGINFOD_URLS
src=$PWD
cd "$T" || exit 1
fail=0

# addresses FILE: start, middle, last byte and three others of each function
addresses() {
	nm -S -t d --defined-only "$1" 2>/dev/null | awk 'BEGIN{srand(1)} NF==4 && tolower($3) ~ /[twi]/ {
		a=$1+0; s=$2+0; if (s<1) s=1
		print a; print a+int(s/2); print a+s-1; for (i=0;i<3;i++) print a+int(rand()*s) }' | sort -nu
}

# agree NAME FILE [LLVM-FILE]: the same text for all addresses but those explained
agree() {
	local n
	addresses "${3:-$2}" >addrs
	"$symbolize" -m "$2" <addrs >ours || { echo "$1: symbolize failed"; fail=1; return; }
	llvm-symbolizer --no-demangle --obj="${3:-$2}" <addrs 2>/dev/null | sed -E 's/^(.*:[0-9]+):[0-9]+$/\1/' >llvm
	n=$(python3 - <<'PY'
ours, llvm, addrs = (open(f).read().split(s) for f, s in (("ours", "\n\n"), ("llvm", "\n\n"), ("addrs", "\n")))
bad = [i for i in range(len(addrs) - 1) if ours[i] != llvm[i]]
frames = sum(o.count("\n") + 1 for o in ours if o) // 2
for i in bad[:2]:
    print("at %s\nours:\n%s\nllvm:\n%s" % (addrs[i], ours[i], llvm[i]))
print(len(addrs) - 1, frames, len(bad))
PY
	)
	read -r addrs frames bad <<<"$(tail -n 1 <<<"$n")"
	printf '%-22s %6d addresses %6d frames %d differ\n' "$1" "$addrs" "$frames" "$bad"
	if [ "$bad" != 0 ] || [ "$addrs" -lt "${MIN_ADDRS:-80}" ] || [ "$frames" -lt $((addrs * ${MIN_DEPTH:-15} / 10)) ]; then
		[ "$bad" = 0 ] || head -n -1 <<<"$n"
		echo "$1: not as it should be"
		fail=1
	fi
}

build() { # OUTPUT COMMAND...
	local out=$1
	shift
	"$@" -o "$out" 2>log || { cat log; echo "building $out failed"; exit 1; }
}
gcc="g++ -O2 -g $src/symbolize.cc" clang="clang++ -std=c++17 -O2 -g $src/symbolize.cc"

build gcc5 $gcc
agree gcc-dwarf5 gcc5
build gcc4 $gcc -gdwarf-4
agree gcc-dwarf4 gcc4
build gcc2 $gcc -gdwarf-2 -gstrict-dwarf
MIN_DEPTH=10 agree gcc-dwarf2 gcc2
build gcc64 $gcc -gdwarf64
agree gcc-64bit gcc64
objcopy --compress-debug-sections=zlib gcc5 gccz
agree gcc-compressed gccz
objcopy --compress-debug-sections=zlib-gnu gcc4 zdebug
agree gcc-zdebug zdebug
build types $gcc -fdebug-types-section
agree gcc-type-units types
build types4 $gcc -gdwarf-4 -fdebug-types-section
agree gcc4-type-units types4
build gc $gcc -ffunction-sections -Wl,--gc-sections
agree gcc-gc-sections gc
build lto $gcc -flto
agree gcc-lto lto
build O0 g++ -O0 -g "$src/symbolize.cc"
MIN_DEPTH=10 agree gcc-O0 O0

build clang5 $clang
agree clang-dwarf5 clang5
build clang4 $clang -gdwarf-4
agree clang-dwarf4 clang4
build clanggc $clang -ffunction-sections -Wl,--gc-sections
agree clang-gc-sections clanggc
build mlt clang++ -std=c++17 -O2 -gmlt "$src/symbolize.cc"
agree clang-line-tables mlt

# units that share abstract instances after dwz: partial units, references across units
build one.o $gcc -c
build two.o gcc -O2 -g -c "$src/symbolize.c"
build many g++ one.o two.o
agree several-units many
cp many dwz && dwz dwz
agree dwz dwz

# split DWARF: .dwo where it was built, beside the program, and in a package
for v in 4 5; do
	mkdir split$v && cd split$v || exit 1
	build split $clang -gdwarf-$v -gsplit-dwarf
	cd .. && agree clang-split$v split$v/split
	cp -r split$v package$v && [ -e package$v/*.dwo ] || exit 1
	if [ $v = 4 ]; then (cd split4 && dwp -e split -o ../package4/split.dwp); else llvm-dwp -e split5/split -o package5/split.dwp; fi >log 2>&1 || { cat log; exit 1; }
	mv split$v moved$v && rm -f package$v/*.dwo
	agree clang-package$v package$v/split
	# llvm does not look beside the program: ours must say the same as it did of the package
	cp llvm said && "$symbolize" -m "$PWD/moved$v/split" <addrs >ours
	cmp -s ours said || { echo "split$v: the .dwo beside the program was not used"; fail=1; }
done

# separate debug files: by build-id and by link; dwz's common file, which llvm does not read
cp many bare && strip bare -o stripped
id=$(readelf -n many | sed -n 's/.*Build ID: //p')
mkdir -p debug/.build-id/"${id:0:2}" linked/.debug
objcopy --only-keep-debug many debug/.build-id/"${id:0:2}/${id:2}.debug"
addresses many >addrs
"$symbolize" -m many <addrs >whole
"$symbolize" -m -D "$PWD/debug" stripped <addrs >ours
cmp ours whole || { echo "build-id: not the same"; fail=1; }
mkdir bin fetched && mv debug/.build-id/"${id:0:2}/${id:2}.debug" fetched/debuginfo
printf '#!/bin/sh\n[ "$1 $2" = "debuginfo %s" ] && echo %s/fetched/debuginfo\n' "$id" "$T" >bin/debuginfod-find
chmod +x bin/debuginfod-find
PATH=$T/bin:$PATH "$symbolize" -m -d -D /nonexistent stripped <addrs >ours
cmp ours whole || { echo "debuginfod: not the same"; fail=1; }
PATH=$T/bin:$PATH "$symbolize" -m -D /nonexistent stripped <addrs >ours
cmp -s ours whole && { echo "debuginfod: run without being asked for"; fail=1; }
objcopy --only-keep-debug many linked/.debug/named.debug
objcopy --remove-section=.note.gnu.build-id --add-gnu-debuglink=linked/.debug/named.debug stripped linked/stripped
"$symbolize" -m -D /nonexistent "$PWD/linked/stripped" <addrs >ours
cmp ours whole || { echo "debuglink: not the same"; fail=1; }
printf x >>linked/.debug/named.debug
"$symbolize" -k -D /nonexistent "$PWD/linked/stripped" <addrs | tail -n 1 | grep -q dynsym || { echo "debuglink: a wrong CRC was not seen"; fail=1; }
objcopy --add-gnu-debuglink=linked/.debug/named.debug stripped linked/stripped
printf x >>linked/.debug/named.debug
"$symbolize" -m -D /nonexistent "$PWD/linked/stripped" <addrs >ours
cmp ours whole || { echo "debuglink: the same build-id was not seen"; fail=1; }
printf '\004\0\0\0\001\0\0\0\003\0\0\0GNU\0\377' >other-id
objcopy --update-section .note.gnu.build-id=other-id stripped linked/stripped
objcopy --add-gnu-debuglink=linked/.debug/named.debug linked/stripped
"$symbolize" -k -D /nonexistent "$PWD/linked/stripped" <addrs | tail -n 1 | grep -q dynsym || { echo "debuglink: another build-id was not seen"; fail=1; }

build three.o $gcc -c -DOTHER
cp many multi1 && build multi2 g++ three.o two.o
dwz -m common -M "$PWD/common" multi1 multi2
agree_with_whole() { # chains through DW_FORM_GNU_ref_alt equal those before dwz
	"$symbolize" -m "$1" <addrs >ours
	cmp ours whole || { echo "dwz -m: not the same"; fail=1; }
}
readelf -S multi1 | grep -q gnu_debugaltlink || { echo "dwz -m: made no common file"; fail=1; }
agree_with_whole "$PWD/multi1"

# one thread and several, cold and cached, and no inlines
"$symbolize" -j 1 many <addrs >one
"$symbolize" -j 4 many <addrs >four
cmp one four || fail=1
export SYMBOLIZE_ID=00112233
"$symbolize" -c "$T/cache" many <addrs >cold
[ "$(stat -c %a cache/00/112233.sym)" = 600 ] || { echo "cache: not written, or not private"; fail=1; }
cp many kept && : >many
"$symbolize" -c "$T/cache" many <addrs >warm
cmp one cold && cmp one warm || { echo "cache: not the same"; fail=1; }
printf '\377' | dd of=cache/00/112233.sym bs=1 seek=200 conv=notrunc 2>/dev/null
"$symbolize" -c "$T/cache" kept <addrs >mended
cmp one mended || { echo "cache: damage was believed"; fail=1; }
"$symbolize" -c "$T/cache" many <addrs >warm
cmp one warm || { echo "cache: damage was not mended"; fail=1; }
unset SYMBOLIZE_ID
"$symbolize" -i -m kept <addrs >ours
llvm-symbolizer --no-inlines --no-demangle --obj=kept <addrs | sed -E 's/^(.*:[0-9]+):[0-9]+$/\1/' >llvm
cmp ours llvm || { echo "without inlines: not the same"; fail=1; }
exit $fail
