# Round-trip time and retransmits of a connection whose network changes from near to far to lossy, against what ss and the kernel's
# TCP_INFO say: at its end, by interval, and in `obana traffic --interval 1s`.
. tests/live/lib.inc
for c in ss ip python3; do command -v $c >/dev/null || skip "needs $c"; done
[ -c /dev/net/tun ] || skip "no TUN devices here"
mkfifo "$T/go"; exec 8<>"$T/go"
python3 -B tests/live/rtt_peer.py "$T/truth" <&8 >"$T/pid" 2>"$T/err" &
peer=$!; pids+=($peer)
ready() { [ -s "$T/pid" ] || ! kill -0 $peer; }
eventually "the client" ready
[ -s "$T/pid" ] || skip "no network of its own: $(tail -n 1 "$T/err")"
obrec_start -q -p "$(cat "$T/pid")" --no-inherit -e l4 --debuginfo none -o "$T/a.obz"
echo >&8
obrec_wait # until the client ends
is "exit" $status 0
is "phases" "$(cut -d' ' -f1 "$T/truth" | tr '\n' ' ')" "near far lossy "
is "losses" "$(lost "$T/a.obz")" 0

sql "$T/a.obz" "SELECT s.ts_ns, s.srtt_us, s.retransmits FROM connection_stat s JOIN connection c ON c.id = s.connection_id WHERE role = 'client' ORDER BY 1" >"$T/rows"
"$OBANA" traffic "$T/a.obz" --by peer --interval 1s --role client --csv >"$T/intervals"
sql "$T/a.obz" "SELECT srtt_us, retransmits FROM connection WHERE role = 'client'" >"$T/end"
python3 - "$T" <<'P'
import csv, sys
d = sys.argv[1]
rows = [tuple(map(int, l.split(","))) for l in open(d + "/rows")]
intervals = [{k: int(r[k]) for k in ("start_ns", "retransmits", "rtt_ns")} for r in csv.DictReader(open(d + "/intervals"))]
end_rtt, end_retransmits = map(int, open(d + "/end").read().split(","))

def check(what, good, *values):
    if not good:
        sys.exit("FAILED: %s: %s" % (what, " ".join(map(str, values))))
    print("ok: %s: %s" % (what, " ".join(map(str, values))))

seen, before = set(), 0
for line in open(d + "/truth"):
    name, round_trip, begin, end, retransmits, of_ss, rtt, rtt_of_ss, values = line.split()
    round_trip, begin, end, retransmits, rtt = map(int, (round_trip, begin, end, retransmits, rtt))
    here = set(map(int, values.split(",")))
    check(name + ": ss and TCP_INFO", (retransmits, rtt) == (int(of_ss), int(rtt_of_ss)), retransmits, rtt)
    # A row has the value after the last call before it, so it is one that TCP_INFO gave: of this phase, but for the first calls.
    ours = [r for r in rows if begin <= r[0] <= end]
    check(name + ": rows", len(ours) > 1 and all(r[1] in here | seen for r in ours), *(r[1] for r in ours))
    check(name + ": the last is of this phase, and as slow as its network", ours[-1][1] in here and ours[-1][1] > round_trip * 0.9, ours[-1][1])
    # A row is of the interval half a second before it: those with rows of this phase alone.
    shown = [i["rtt_ns"] // 1000 for i in intervals if begin + 500_000_000 <= i["start_ns"] <= end - 1_500_000_000]
    check(name + ": intervals of obana traffic", shown and all(min(here) <= s <= max(here) for s in shown), *shown)
    check(name + ": retransmits until then", sum(r[2] for r in rows if r[0] <= end) <= retransmits, retransmits)
    check(name + ": retransmits before", sum(i["retransmits"] for i in intervals if i["start_ns"] + 1_500_000_000 <= begin) <= before, before)
    seen, before = seen | here, retransmits
check("retransmits at the end", end_retransmits == retransmits, end_retransmits)
check("in rows", sum(r[2] for r in rows) == retransmits, retransmits)
check("in intervals", sum(i["retransmits"] for i in intervals) == retransmits, retransmits)
check("round trip at the end, after its FIN's", rtt * 0.75 <= end_rtt <= rtt * 10, end_rtt, "of", rtt)
P
