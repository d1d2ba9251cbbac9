# Retransmits and round-trip time of a connection that loses packets, against what ss and the kernel's TCP_INFO say, at its end and by interval.
# The loss is made by an XDP program on the loopback of a network namespace of its own, as netem is a module that not every kernel has.
. tests/live/lib.inc
for c in ss clang ip python3 unshare; do command -v $c >/dev/null || skip "needs $c"; done
cat >"$T/drop.c" <<'C'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
SEC("xdp") int drop(struct xdp_md *x) { return bpf_get_prandom_u32() % 100 < 3 ? XDP_DROP : XDP_PASS; }
char text[] SEC("license") = "GPL";
C
clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -c "$T/drop.c" -o "$T/drop.o" || skip "clang cannot build an XDP program"
cat >"$T/peer.py" <<'P'
import os, re, socket, struct, subprocess, sys
# Sends until segments were lost, then says what ss and TCP_INFO say of the connection: RETRANSMITS OF_SS RTT_US
s = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    c, _ = s.accept()
    while True:
        got = c.recv(1 << 16)
        if not got: os._exit(0)
c = socket.create_connection(s.getsockname())
sys.stderr.write("ready\n"); sys.stdin.readline()
def info():
    i = c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    return struct.unpack_from("I", i, 100)[0], struct.unpack_from("I", i, 68)[0], struct.unpack_from("I", i, 24)[0] # total_retrans, rtt, unacked
for _ in range(3000):
    c.sendall(b"x" * 8000)
    if info()[0] > 20: break
while info()[2]: pass
c.sendall(b"y") # the last call sees the count
while info()[2]: pass
text = subprocess.run(["ss", "-tin", "dport", "=", ":%d" % c.getpeername()[1]], capture_output=True, text=True).stdout
print(info()[0], re.search(r" retrans:\d+/(\d+)", text).group(1), info()[1], flush=True)
c.close()
P
mkfifo "$T/go"; exec 8<>"$T/go"
unshare -n sh -c "ip link set lo up && exec python3 '$T/peer.py'" <&8 >"$T/truth" 2>"$T/err" &
peer=$!; pids+=($peer)
for _ in $(seq 100); do grep -q ready "$T/err" && break; sleep 0.05; done
nsenter -n -t $peer ip link set dev lo xdpgeneric obj "$T/drop.o" sec xdp 2>"$T/xdp" || skip "no XDP on loopback: $(cat "$T/xdp")"
obrec_start -q -p $peer --no-inherit -e l4 --debuginfo none -o "$T/a.obz"
echo >&8
obrec_wait
is "exit" $status 0
read -r retransmits of_ss rtt <"$T/truth" || fail "the program: $(cat "$T/err")"
is "ss and TCP_INFO" "$of_ss" "$retransmits"
within "retransmits" "$retransmits" 1 100000
# The very last segments may be sent again after the last call; its end counts them too, if it comes within the capture.
within "at the end" "$(sql "$T/a.obz" "SELECT retransmits FROM connection WHERE role = 'client'")" "$retransmits" $((retransmits + 2))
is "by interval, summed" "$(sql "$T/a.obz" "SELECT sum(s.retransmits) FROM connection_stat s JOIN connection c ON c.id = s.connection_id WHERE role = 'client'")" \
	"$(sql "$T/a.obz" "SELECT retransmits FROM connection WHERE role = 'client'")"
within "smoothed round-trip time of $rtt us" "$(sql "$T/a.obz" "SELECT srtt_us FROM connection WHERE role = 'client'")" 1 $((rtt * 10 + 1000))
