# Two programs that carry one build-id and are of one size, but differ in code and names: in one capture each has its own names, and what
# --debuginfo-cache keeps of one names the other in no later capture. The same program under another inode stays one binary.
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a compiler"
program() { # NAME: a program that spins in NAME_function; both of one length
	cat >"$T/$1.c" <<-END
	__attribute__((noinline)) void $1_function(volatile unsigned long *v) { for (int i = 0; i < 1000; i++) *v += i * ${2}; }
	int main(void) { volatile unsigned long v = 0; for (;;) $1_function(&v); }
	END
	cc -g -O1 -Wl,--build-id=0xfeedfacecafebeef0011223344556677 -o "$T/$1" "$T/$1.c"
}
program decent 3
program forged 5
is "sizes" "$(stat -c %s "$T/forged")" "$(stat -c %s "$T/decent")"
cp "$T/decent" "$T/copy"
names() { # ARCHIVE PROGRAM: which of both functions its samples are in
	sql "$1" "SELECT DISTINCT function.name FROM sample JOIN stack_frame USING (stack_id) JOIN frame ON frame.id = frame_id JOIN function ON function.id = function_id
		JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id WHERE depth = 0 AND frame.kind = 'user' AND process.comm = '$2' AND function.name LIKE '%_function'"
}
start "$T/forged"; forged=$!
start "$T/decent"; decent=$!
start "$T/copy"; copy=$!
capture 30 $forged,$decent,$copy -v -e cpu -F 299 -o "$T/both.obz"
is "the forged program" "$(names "$T/both.obz" forged)" forged_function
is "the decent program" "$(names "$T/both.obz" decent)" decent_function
is "its copy" "$(names "$T/both.obz" copy)" decent_function
is "binaries of both" "$(sql "$T/both.obz" "SELECT count(*) FROM binary WHERE path IN ('$T/forged', '$T/decent', '$T/copy') AND symbols = 'dwarf'")" 2
is "of which one has the build-id" "$(sql "$T/both.obz" "SELECT count(*) FROM binary WHERE build_id = 'feedfacecafebeef0011223344556677'")" 1
is "and the other is known by its content" "$(sql "$T/both.obz" "SELECT count(*) FROM binary WHERE build_id LIKE 'sha1:%' AND path LIKE '$T/%'")" 1
is "warnings" "$(grep -c 'has the build-id of another file' "$T/obrec.err")" 1

for round in 1 2; do
	for p in forged decent; do
		capture 10 ${!p} -v -e cpu -F 299 --debuginfo full --debuginfo-cache "$T/kept" -o "$T/$p.obz"
		is "with a cache, $p" "$(names "$T/$p.obz" $p)" ${p}_function
	done
done
is "kept" "$(ls "$T"/kept/fe/*.debug.zst | wc -l)" 2
touch "$T/before"
capture 10 $copy -e cpu -F 299 --debuginfo full --debuginfo-cache "$T/kept" -o "$T/copy.obz"
is "with a cache, the copy" "$(names "$T/copy.obz" copy)" decent_function
is "kept anew" "$(find "$T/kept/fe" -newer "$T/before" -type f | wc -l)" 0
