# TCP packets that the kernel drops: segments forged with a sequence number outside the window, with a wrong checksum, to a port where nobody
# listens, and what a packet filter drops, as many as sent or as the filter counts. With the names of reasons that this kernel has.
# alone: records the whole host
. tests/live/lib.inc
grep -q "^tcp .* yes" "$T/list" || skip "no probe 'tcp': $(grep '^tcp ' "$T/list")"
bpftool btf dump file /sys/kernel/btf/vmlinux 2>/dev/null | grep SKB_DROP_REASON_NETFILTER_DROP >/dev/null || skip "needs a kernel with these reasons, and bpftool"
command -v nft >/dev/null || skip "needs nft"
unshare -n true 2>/dev/null || skip "no network namespaces here"
cat >"$T/forge.py" <<'P'
import os, socket, struct, sys
ADDRESS = socket.inet_aton("127.0.0.1")
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
def checksum(b):
    s = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
def segment(source, destination, wrong, flags=0x10):
    head = struct.pack("!HHIIBBHHH", source, destination, 12345, 1, 0x50, flags, 1000, 0, 0)
    pseudo = ADDRESS + ADDRESS + struct.pack("!BBH", 0, 6, len(head) + 10)
    sum_ = checksum(pseudo + head + b"x" * 10) ^ wrong
    raw.sendto(head[:16] + struct.pack("!H", sum_) + head[18:] + b"x" * 10, ("127.0.0.1", 0))
def snmp(name):
    lines = [l.split() for l in open("/proc/net/snmp") if l.startswith("Tcp:")]
    return lines[1][lines[0].index(name)]
l = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(l.getsockname())
s = l.accept()[0]
closed = socket.socket()
closed.bind(("127.0.0.1", 0))
print("ready", flush=True)
sys.stdin.readline()
port, to = c.getsockname()[1], l.getsockname()[1]
for i in range(7): segment(to, port, 0)  # to the client
for i in range(4): segment(port, to, 0)  # to the server
for i in range(5): segment(to, port, 1)
for i in range(6): segment(9, closed.getsockname()[1], 0)
print("sent", os.stat("/proc/self/ns/net").st_ino, port, to, closed.getsockname()[1], snmp("InCsumErrors"), flush=True)
sys.stdin.readline()
filtered = socket.create_connection(l.getsockname())
t = l.accept()[0]
os.system("echo 'table ip t { chain in { type filter hook input priority 0; tcp dport %d tcp flags & psh != 0 counter drop; }; }' | nft -f -" % to)
filtered.send(b"y" * 100)
sys.stdin.readline()
os.system("nft list table ip t; nft delete table ip t")
print("filtered", filtered.getsockname()[1], flush=True)
sys.stdin.readline()
P
mkfifo "$T/go"; exec 8<>"$T/go"
unshare -n sh -c 'ip link set lo up; exec python3 "$1"' sh "$T/forge.py" <"$T/go" >"$T/forge" & forge=$!; pids+=($forge)
eventually "the program" written "$T/forge" ready
obrec_start -q -p $forge -e tcpdrop:rate=0 --debuginfo none -o "$T/a.obz"
both=$obrec
obrec_start -q -a -e tcpdrop:rate=0 --debuginfo none -o "$T/all.obz"
echo >&8
eventually "what is forged" written "$T/forge" sent
echo >&8
# The filter drops what is sent again as well.
sleep 1
echo >&8
eventually "what is filtered" written "$T/forge" filtered
obrec_stop
obrec=$both
obrec_stop
is "losses" "$(lost "$T/a.obz"),$(lost "$T/all.obz" "cause NOT LIKE 'mappings %'")" 0,0
read -r _ netns client server closed wrong <<<"$(grep ^sent "$T/forge")"
filtered=$(sed -n 's/^filtered //p' "$T/forge") dropped=$(sed -n 's/.*counter packets \([0-9]*\).*/\1/p' "$T/forge")
is "wrong checksums, as the kernel counts" "$wrong" 5
within "filtered, as the filter counts" "$dropped" 1 1000
# Outside the window is before it or behind it, by chance. The server has not read from the connection that is filtered: nobody's, but of who listens.
rows() { sql "$1" "SELECT replace(reason, '_OLD_', '_INVALID_') AS r, state, source, source_port, destination_port, bytes, flags, d.netns = $netns, p.pid IS NOT NULL, count(*), min(stack_id > 0) FROM tcp_drop d LEFT JOIN thread t ON t.id = d.thread_id LEFT JOIN process p ON p.id = t.process_id WHERE $2 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9" | xargs -n 1 | LC_ALL=C sort | xargs; }
expected="NETFILTER_DROP,ESTAB,127.0.0.1,$filtered,$server,100,24,1,0,$dropped,1
TCP_CSUM,ESTAB,127.0.0.1,$server,$client,10,16,1,1,5,1
TCP_INVALID_SEQUENCE,ESTAB,127.0.0.1,$client,$server,10,16,1,1,4,1
TCP_INVALID_SEQUENCE,ESTAB,127.0.0.1,$server,$client,10,16,1,1,7,1"
is "dropped, of the process" "$(rows "$T/a.obz" 1)" "$(LC_ALL=C sort <<<"$expected" | xargs)"
is "nobody's" "$(rows "$T/all.obz" "d.netns = $netns AND reason = 'NO_SOCKET' AND destination_port = $closed")" "NO_SOCKET,,127.0.0.1,9,$closed,10,16,1,0,6,1"
is "dropped, of all" "$(rows "$T/all.obz" "d.netns = $netns AND reason <> 'NO_SOCKET'")" "$(LC_ALL=C sort <<<"$expected" | xargs)"
is "counted" "$(sql "$T/a.obz" "SELECT part(key, 'process' || char(9) || 'reason', 'process'), replace(part(key, 'process' || char(9) || 'reason', 'reason'), '_OLD_', '_INVALID_') AS r, sum(count), sum(sum) FROM counter WHERE probe = 'tcp' AND series = 'drops' GROUP BY 2 ORDER BY 2" | xargs)" \
	"python3,NETFILTER_DROP,$dropped,$((dropped * 100)) python3,TCP_CSUM,5,50 python3,TCP_INVALID_SEQUENCE,11,110"
is "where" "$(sql "$T/a.obz" "SELECT DISTINCT key FROM counter WHERE probe = 'tcp' AND series = 'drops' AND key LIKE '%TCP_CSUM%'" | xargs)" "$(printf 'python3\tTCP_CSUM\ttcp_v4_rcv' | xargs)"
for name in tcpdrop tcp-drops-by-reason; do
	"$OBANA" show $name "$T/a.obz" >"$T/shown" && grep -q 'TCP_CSUM .*tcp_v4_rcv' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done
