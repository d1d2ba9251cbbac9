#!/bin/bash
# Inlined functions are named with their scopes where DWARF has no linkage name for them, the same for each way to build and
# to carry DWARF, cold and from the cache; a linkage name, where there is one, is shown demangled.
cd "$(dirname "$0")" || exit 1
for t in g++ clang++ dwz nm; do
	command -v $t >/dev/null || { echo "$t is missing"; exit 77; }
done
symbolize=$TOP/$B/tests/bench/symbolize
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
unset SYMBOLIZE_ID DEBUGINFOD_URLS
src=$PWD
cd "$T" || exit 1
fail=0

# names FILE [OPTION...]: of all that is inlined into main
names() {
	local file=$1
	shift
	nm -S -t d --defined-only "$file" | awk '$4 == "main" {for (i = 0; i < $2; i++) print $1 + i}' |
		"$symbolize" "$@" "$file" | grep -v -e ':[0-9]*$' -e '^$' | sort -u
}

# like NAME FILE EXPECTED [OPTION...]
like() {
	names "$2" "${@:4}" >got
	cmp -s got "$3" || { echo "$1: not as expected"; diff "$3" got; fail=1; }
}

build() { # OUTPUT COMMAND...
	"${@:2}" -o "$1" 2>log || { cat log; echo "building $1 failed"; exit 1; }
}
gcc="g++ -O2 -g $src/symbol_scopes.cc"
echo 'int other(int x) { return x; }' >other.cc

build gcc5 $gcc -gdwarf-5
names gcc5 | tee gcc
for options in -gdwarf-4 -gdwarf64 -gsplit-dwarf "-gdwarf-4 -gsplit-dwarf" "-flto other.cc"; do
	build made $gcc $options
	like "gcc $options" made gcc
done
# a class's name in a type unit is not read
build types $gcc -fdebug-types-section
sed 's/^Named:://' gcc | sort >without
like "gcc, type units" types without

build one.o $gcc -c
build two.o $gcc -c -Dmain=other_main
build many g++ one.o two.o
like "several units" many gcc
cp many dwz && dwz dwz 2>log
like dwz dwz gcc
cp many multi1 && cp many multi2 && dwz -m common -M "$PWD/common" multi1 multi2 2>log
like "dwz -m" "$PWD/multi1" gcc

SYMBOLIZE_ID=00112233 names many -c "$T/cache" >cold
: >bare && cp many kept && cp bare many
nm -S -t d --defined-only kept | awk '$4 == "main" {for (i = 0; i < $2; i++) print $1 + i}' |
	SYMBOLIZE_ID=00112233 "$symbolize" -c "$T/cache" many | grep -v -e ':[0-9]*$' -e '^$' | sort -u >warm
cmp cold gcc && cmp warm gcc || { echo "cache: not the same"; fail=1; }

echo
build clang clang++ -std=c++17 -O2 -g "$src/symbol_scopes.cc"
names clang
exit $fail
