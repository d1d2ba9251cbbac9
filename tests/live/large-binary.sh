# A program as large as few are, 28 MB of .eh_frame, 33 MB of symbols, 15 MB of DWARF: where --max-mem leaves enough for its table, its
# stacks are complete, where not, the table is refused, and that is told; obrec's memory stays under it, and all else is recorded.
# alone: needs all of the machine
. tests/live/lib.inc
command -v python3 >/dev/null || skip "needs python3"
command -v cc >/dev/null || skip "needs a compiler"
cat >"$T/main.c" <<'C'
static volatile unsigned long sink;
static __attribute__((noinline)) void burn(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}
static __attribute__((noinline)) void middle(void)
{
	burn();
	sink++;
}
int main(void)
{
	for (;;)
		middle();
}
C
# 50,000 functions of two rows and a symbol each, and a DWARF unit; linked in again and again
cat >"$T/part.s" <<'S'
	.text
	.macro one
one\@:	.cfi_startproc
	nop
	.cfi_adjust_cfa_offset 8
	nop
	.cfi_endproc
	.endm
	.rept 50000
	one
	.endr
	.section .debug_abbrev,"",@progbits
.Labbrev:
	.uleb128 1, 0x11; .byte 1; .uleb128 0x03, 0x08, 0, 0	# compile_unit, children: name
	.uleb128 2, 0x24; .byte 0; .uleb128 0x03, 0x08, 0x0b, 0x0b, 0, 0	# base_type: name, size
	.uleb128 0
	.section .debug_info,"",@progbits
	.long .Lend-.Lbegin
.Lbegin:
	.short 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.asciz "part"
	.rept 20000
	.uleb128 2
	.ascii "a_type_of_the_large_one"
	.asciz ""
	.byte 4
	.endr
	.byte 0
.Lend:
	.section .note.GNU-stack,"",@progbits
S
cc -c -o "$T/part.o" "$T/part.s"
cc -O1 -g -fomit-frame-pointer -c -o "$T/main.o" "$T/main.c"
cc -Wl,--build-id -o "$T/small" "$T/main.o"
cc -Wl,--build-id -o "$T/large" "$T/main.o" $(for _ in {1..28}; do echo "$T/part.o"; done)
peak_of() { # PID: MiB, the most that was resident, and what maps lock that are not mapped
	python3 - "$1" <<'PY'
import os, sys
pid, maps, rss = sys.argv[1], {}, 0
try:
    rss = [int(l.split()[1]) << 10 for l in open(f"/proc/{pid}/status") if l.startswith("VmHWM")][0]
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        f = dict(l.split(":", 1) for l in open(f"/proc/{pid}/fdinfo/{fd}") if ":" in l)
        if "map_id" in f and int(f.get("map_type", 0)) != 27 and not int(f["map_flags"], 16) & 0x400: # rings are mapped
            maps[f["map_id"]] = int(f["memlock"])
except (FileNotFoundError, ProcessLookupError, IndexError):
    pass
print((rss + sum(maps.values())) >> 20)
PY
}
start "$T/large"; large=$!
start "$T/small"; small=$!

# record [MIB]: both, under that bound; the most that was taken in $peak
record() {
	local now
	obrec_start -p $large,$small -F 499 -e cpu ${1:+--max-mem ${1}M} -o "$T/m.obz"
	worked 50 $large
	worked 50 $small
	peak=$(peak_of $obrec)
	kill -INT $obrec
	while kill -0 $obrec 2>/dev/null; do
		now=$(peak_of $obrec)
		[ "$now" -le $peak ] || peak=$now
		sleep 0.05
	done
	obrec_wait
	is "${1:-default}: exit" $status 0
	tail -n 1 "$T/obrec.err"
	"$OBANA" verify "$T/m.obz" >/dev/null || fail "not readable"
	is "it went on to the end" "$(sql "$T/m.obz" "SELECT stop_reason FROM capture")" interrupt
	is "binaries without symbols or why" "$(sql "$T/m.obz" "SELECT count(*) FROM binary WHERE path LIKE '$T/%' AND symbols = 'none' AND ifnull(why, '') = ''")" 0
}
refused="source = 'unwind table' AND cause = 'exceeds the memory left by --max-mem'"
complete() { sql "$T/m.obz" "SELECT 100.0 * total((ifnull(error, '') = '') * count) / total(count) FROM sample JOIN stack ON stack.id = stack_id JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id WHERE pid = $1"; }

record
is "tables refused" "$(lost "$T/m.obz" "$refused")" 0
within "complete stacks of the large one, %" "$(complete $large)" 95 100
within "of the small one, %" "$(complete $small)" 95 100

record 128
within "MiB at the most" $peak 10 128
is "tables refused" "$(lost "$T/m.obz" "$refused")" 0
within "complete stacks of the large one, %" "$(complete $large)" 95 100

record 72
within "MiB at the most" $peak 10 72
is "tables refused" "$(lost "$T/m.obz" "$refused")" 1
"$OBANA" info "$T/m.obz" >"$T/info"
grep -q "unwind table.*exceeds the memory left by --max-mem" "$T/info" || fail "not told: $(cat "$T/info")"
within "complete stacks of the large one, %" "$(complete $large)" 0 50
within "of the small one, %" "$(complete $small)" 95 100
