# Every transport and every odd call, against the program's own account: calls and bytes of each end, also of a connection older than the
# capture that never closes; heads of what was sent, and nothing of a buffer that no call filled.
. tests/live/lib.inc
[ -x "$WORKLOAD/sockets" ] || skip "needs make workload"
mkfifo "$T/go"; exec 8<>"$T/go"
"$WORKLOAD/sockets" -w <&8 >"$T/truth" 2>"$T/err" &
pids+=($!)
peer=$!
for _ in $(seq 100); do grep -q ready "$T/err" && break; sleep 0.05; done
obrec_start -q -p $peer -e l4,l7 --no-redact --debuginfo none -o "$T/a.obz"
echo >&8
for _ in $(seq 300); do grep -q '^old server' "$T/truth" && break; sleep 0.1; done
grep -q '^old server' "$T/truth" || fail "the program: $(cat "$T/err")"
kill -INT $obrec; obrec_wait
is "exit" $status 0
a=$T/a.obz
is "losses" "$(sql "$a" "SELECT source, cause, count FROM loss")" "l7,vector of more than 256 pieces: the others' payload,2"
bad=0
while read -r name end transport local remote sends sent receives received; do
	case $local in
	@*) where="local_addr = '$local'" ;;
	*) where="local_port = $local AND (remote_port = $remote OR remote_port = 0 OR remote_port IS NULL)" ;;
	esac
	got=$(sql "$a" "SELECT count(*), total(sends), total(bytes_sent), total(receives), total(bytes_received) FROM connection WHERE transport = '$transport' AND $where" | sed 's/\.0//g')
	if [ "$got" = "1,$sends,$sent,$receives,$received" ]; then echo "ok: $name $end: $got"
	else echo "FAILED: $name $end: got $got, expected 1,$sends,$sent,$receives,$received"; bad=1; fi
done <"$T/truth"
# The heads, as often as a call sent or received one; a call that throws bytes away, or hands them to a pipe, shows none.
mkdir "$T/x"; tar -xf "$a" -C "$T/x"
find "$T/x/ev" -name '*.zst' -exec zstd -dcq {} + >"$T/raw"
heads() { grep -ao "$1:" "$T/raw" | wc -l; }
for want in ipv4=4 unix-stream=4 unix-seqpacket=4 v4-mapped=4 peek=2 discarded=1 truncated=6 wait-all=6 half-close=4 reset=6 sendfile=1 splice=0 \
	vectors=2 bytewise=2 many-v4=4 many-v6=4 unconnected-v4=8 unconnected-unix=8 connected-udp=4 old=4; do
	is "heads of ${want%=*}" "$(heads "${want%=*}")" ${want#*=}
done
is "of other things in a buffer" "$(grep -ac not-traffic "$T/raw" || true)" 0
exit $bad
