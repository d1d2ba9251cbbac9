# What open, runq and block record of a load that keeps its own account, and what libbpf-tools (Debian's package) count of it in the same
# seconds. In guests the same is done on a real disk (tests/kernels).
# alone: what it compares with counts the whole host
. tests/live/lib.inc
. tests/live/peers.inc
. tests/live/probes.inc
[ -x "$WORKLOAD/probed" ] || skip "needs make workload"
for probe in open runq block; do grep -q "^$probe .* yes" "$T/list" || skip "no probe '$probe': $(grep "^$probe " "$T/list")"; done
command -v losetup >/dev/null || skip "needs losetup"
truncate -s 16M "$T/image"
loop=$(losetup -f --show "$T/image" 2>"$T/err") || skip "no loop device: $(cat "$T/err")"
trap 'for p in $loads $peers; do kill -KILL $p 2>/dev/null || true; done; losetup -d "$loop"; cleanup' EXIT
case $(uname -r) in [1-5].* | 6.[0-9].* | 6.1[0-2].*) ;; *) LOSSES=counted ;; esac # since 6.13 a run may be skipped
result() { echo "ok: $1: $2"; }
wrong() { fail "$1: $2"; }
mkdir "$T/bin" "$T/out"
ln -s "$WORKLOAD/probed" "$OBREC" "$T/bin/"
export PATH=$T/bin:$PATH:/usr/sbin
out=$T/out tmp=$T
probes_run "$loop"
is "exit" $status 0
probes_as_done "$loop"
is "lost in rings" "$(lost "$out/probes.obz" "source = 'ring'")" 0
probes_as_peers "${loop#/dev/}"
