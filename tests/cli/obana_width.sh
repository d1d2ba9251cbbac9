# Tables on a terminal of 80 columns, or with COLUMNS=80: no line is longer, numbers are whole, text is cut, and what is left out is said.
# In a pipe all of it is written.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache NO_COLOR=1
command -v script >/dev/null || { echo "script is missing"; exit 77; }
for n in server client; do "$TOP/$B/tests/tools/mkobz" $n.obz <"$TOP/tests/cli/traffic-$n.obt" || exit 1; done
long() { grep -v ^Losses | grep -cE "^.{$(($1 + 1)),}" | sed "s/$/ longer than $1/"; } # code points
export LC_ALL=C.UTF-8

for command in traffic topology "messages --limit 3" "traffic --interval 1s --limit 1"; do
	echo "> $command"
	COLUMNS=80 $OBANA $command server.obz client.obz
done
for columns in 60 80 100 120 200; do
	for command in report traffic topology messages "traffic --rare" "show endpoints-called"; do
		COLUMNS=$columns $OBANA $command server.obz client.obz | long $columns | sed "s/^/$command: /"
	done
done | grep -v ': 0 longer'
echo "rows after those from which the widths are taken:"
awk 'BEGIN {
	print "header {\"host\":\"h\",\"kernel\":\"6.1\",\"arch\":\"x86_64\",\"cpus\":2,\"version\":\"1\",\"started_at_ns\":1700000000000000000,\"clock\":{\"monotonic_ns\":1000000000,\"realtime_ns\":1700000000000000000,\"boottime_ns\":1000000000},\"argv\":[\"obrec\"],\"probes\":[\"l4\",\"l7\"],\"options\":{\"freq\":99},\"labels\":{}}"
	print "process id=1 pid=10 ppid=1 started_ns=1 comm=s exe=/s"
	print "connection id=1 process=1 cookie=1 transport=6 local_addr=10.0.0.1 local_port=80 remote_addr=10.0.0.2 remote_port=4000 role=2 opened_ns=1100000000 sampled=1"
	print "flush"
	long = sprintf("/%0100d", 0)
	gsub("0", "b", long)
	for (i = 0; i < 2010; i++) {
		target = i < 2005 ? "/a" : long
		ask = 23 + length(target); at = 1200000000 + i * 10000
		printf "payload connection=1 ts_ns=%d direction=1 position=%d len=%d data=\"GET %s HTTP/1.1\\x0d\\x0aA: b\\x0d\\x0a\\x0d\\x0a\"\n", at, asked, ask, target
		printf "payload connection=1 ts_ns=%d direction=0 position=%d len=38 data=\"HTTP/1.1 200 OK\\x0d\\x0aContent-Length: 0\\x0d\\x0a\\x0d\\x0a\"\n", at + 5000, i * 38
		asked += ask
	}
	print "end {\"complete\":true,\"stop_reason\":\"duration\",\"duration_ns\":1000000000,\"losses\":[]}"
}' | "$TOP/$B/tests/tools/mkobz" many.obz || exit 1
for columns in 80 140; do
	COLUMNS=$columns $OBANA messages many.obz >many
	wc -l <many
	long $columns <many
done
echo "on a terminal:"
SHELL=/bin/sh command script -qec "stty cols 80; $OBANA topology server.obz client.obz" /dev/null </dev/null | tr -d '\r' >terminal
COLUMNS=80 $OBANA topology server.obz client.obz | cmp - terminal && echo "as with COLUMNS"
echo "in a pipe, and with room for all:"
for command in traffic topology messages; do
	env -u COLUMNS $OBANA $command server.obz client.obz >whole
	COLUMNS=300 $OBANA $command server.obz client.obz | cmp - whole && grep -c . whole
	! grep -q … whole || echo "cut"
done
