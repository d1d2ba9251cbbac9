# What open, runq and block record of a load that keeps its own account, and what libbpf-tools (Debian's package) count of it in the same
# seconds. In guests the same is done on a real disk (tests/kernels).
. tests/live/lib.inc
. tests/live/peers.inc
. tests/live/probes.inc
[ -x "$WORKLOAD/probed" ] || skip "needs make workload"
for probe in open runq block; do grep -q "^$probe .* yes" "$T/list" || skip "no probe '$probe': $(grep "^$probe " "$T/list")"; done
command -v losetup >/dev/null || skip "needs losetup"
truncate -s 16M "$T/image"
loop=$(losetup -f --show "$T/image" 2>"$T/err") || skip "no loop device: $(cat "$T/err")"
trap 'for p in $loads $peers; do kill -KILL $p 2>/dev/null || true; done; losetup -d "$loop"; cleanup' EXIT
result() { echo "ok: $1: $2"; }
wrong() { fail "$1: $2"; }
no_losses() { is "lost by ring and probes" "$(lost "$1" "source IN ('ring', 'probe')")" 0; } # others' are those of whoever runs beside
mkdir "$T/bin" "$T/out"
ln -s "$WORKLOAD/probed" "$OBREC" "$T/bin/"
export PATH=$T/bin:$PATH:/usr/sbin
out=$T/out tmp=$T
probes_run "$loop"
is "exit" $status 0
probes_as_done "$loop"
probes_as_peers "${loop#/dev/}"
