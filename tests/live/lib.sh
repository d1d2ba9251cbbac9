# Sourced by live tests: a temporary directory, obrec with its readiness, processes ended by pid at the end.
set -euo pipefail
OBREC=$PWD/${B:-build}/obrec OBANA=$PWD/${B:-build}/obana WORKLOAD=$PWD/${B:-build}/workload
T=$(mktemp -d)
pids=()
export XDG_CACHE_HOME=$T/cache

cleanup() {
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
	for p in "${pids[@]}"; do wait "$p" 2>/dev/null || true; done
	mountpoint -q "$T/small" 2>/dev/null && umount "$T/small"
	rm -rf "$T"
}
trap cleanup EXIT

skip() { echo "$*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

[ "$(id -u)" = 0 ] || skip "needs root"
[ -e /sys/kernel/btf/vmlinux ] || skip "needs a kernel with BTF"
"$OBREC" --list >"$T/list" 2>&1 || skip "no BPF here: $(tail -n 1 "$T/list")"

# start COMMAND...: in the background, ended with the test; its pid in $!
start() { "$@" & pids+=($!); }

# obrec_start ARG...: returns once every probe is attached; pid in $obrec, stderr in $T/obrec.err
obrec_start() {
	rm -f "$T/ready"; mkfifo "$T/ready"
	"$OBREC" --ready-fd 9 "$@" 9>"$T/ready" 2>"$T/obrec.err" &
	obrec=$!
	pids+=($obrec)
	read -r -t 60 <"$T/ready" || { cat "$T/obrec.err"; fail "obrec did not get ready: $*"; }
}

# obrec_wait: its exit status in $status
obrec_wait() { status=0; wait $obrec || status=$?; }

# sql ARCHIVE "SELECT ...": plain values, a comma between columns
sql() { "$OBANA" query "$1" "$2" --csv | tail -n +2; }

# is WHAT GOT WANTED
is() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; echo "ok: $1 = $2"; }

# within WHAT GOT LOW HIGH (numbers)
within() {
	awk -v g="$2" -v l="$3" -v h="$4" 'BEGIN{exit !(g!="" && g>=l && g<=h)}' || fail "$1: $2 is not within $3..$4"
	echo "ok: $1 = $2 (within $3..$4)"
}
