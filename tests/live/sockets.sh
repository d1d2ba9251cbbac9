# Every transport and every odd call, against the program's own account: calls and bytes of each end, also of a connection older than the
# capture that never closes; heads of what was sent, and nothing of a buffer that no call filled.
. tests/live/lib.inc
[ -x "$WORKLOAD/sockets" ] || skip "needs make workload"
mkfifo "$T/go"; exec 8<>"$T/go"

through() { written "$T/truth" '^old server' || ! kill -0 $peer; }
record() { # NAME OPTION OBREC-ARG...: the program's doings in NAME.obz, its account in $T/truth
	local name=$1 option=$2
	shift 2
	"$WORKLOAD/sockets" $option <&8 >"$T/truth" 2>"$T/err" &
	pids+=($!)
	peer=$!
	eventually "the program is ready" written "$T/err" ready
	obrec_start -q -p $peer -e l4,l7 --no-redact --debuginfo none "$@" -o "$T/$name.obz"
	echo >&8
	eventually "the program's account, or its end" through
	written "$T/truth" '^old server' || fail "the program: $(cat "$T/err")"
	obrec_stop "$name"
	echo >&8 # it ends
}

counts() { # ARCHIVE: each end's as the program says
	local bad=0 name end transport local remote sends sent receives received where got
	while read -r name end transport local remote sends sent receives received; do
		case $name:$local in
		*:@*) where="local_addr = '$local'" ;;
		*unconnected*) where="local_port = $local AND (remote_port = $remote OR remote_port = 0 OR remote_port IS NULL)" ;;
		*) where="local_port = $local AND remote_port = $remote" ;;
		esac
		got=$(sql "$1" "SELECT count(*), total(sends), total(bytes_sent), total(receives), total(bytes_received) FROM connection WHERE transport = '$transport' AND $where" | sed 's/\.0//g')
		if [ "$got" = "1,$sends,$sent,$receives,$received" ]; then echo "ok: $name $end: $got"
		else echo "FAILED: $name $end: got $got, expected 1,$sends,$sent,$receives,$received"; bad=1; fi
	done <"$T/truth"
	[ $bad = 0 ] || exit 1
	is "still open: the first one's" "$(sql "$1" "SELECT count(*) FROM connection WHERE transport = 'tcp' AND closed_ns IS NULL")" 2
	is "the last peer's address" "$(sql "$1" "SELECT count(*) FROM connection WHERE remote_addr = '127.0.0.2'")" 1
}

a=$T/a.obz
record a -u
is "losses" "$(sql "$a" "SELECT source, cause, count FROM loss")" "l7,payload: beyond 256 buffers of a call,2"
counts "$a"
# The heads, as often as a call sent or received one; a call that throws bytes away, or hands them to a pipe, shows none.
payloads "$a" >"$T/raw"
heads() { grep -ao "$1:" "$T/raw" | wc -l; }
for want in ipv4=4 unix-stream=4 unix-seqpacket=4 v4-mapped=4 peek=2 discarded=1 truncated=6 wait-all=6 half-close=4 read-late=4 reset=6 first-of-socket=8 \
	io-uring=$(grep -c '^io-uring client' "$T/truth") sendfile=1 splice=0 vectors=2 bytewise=2 many-v4=4 many-v6=4 unconnected-v4=8 unconnected-unix=8 many-unconnected=8 connected-udp=4 old=4; do
	is "heads of ${want%=*}" "$(heads "${want%=*}")" ${want#*=}
done
is "of other things in a buffer" "$(grep -ac not-traffic "$T/raw" || true)" 0

# Who had no socket for anyone's datagrams before: the first ones may come without their sender, which is counted; nothing else is lost.
record late -w
counts "$T/late.obz"
is "losses of the late one" "$(sql "$T/late.obz" "SELECT count(*) FROM loss WHERE NOT (cause LIKE 'payload: beyond%' AND count = 2 OR cause LIKE 'datagram: sender%' AND count <= 8)")" 0

# The same at the ends of system calls, as before 6.3.
record calls -u --attach l4=syscall
sed -i '/^io-uring server/d' "$T/truth" # they do not see it
counts "$T/calls.obz"
