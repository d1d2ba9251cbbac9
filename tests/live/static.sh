# The static programs (make static): no shared library and no program interpreter, small, and enough by themselves. They record and
# analyse where nothing else is but busybox, and beside the C library of each Debian that is still in use.
. tests/live/lib.inc
static=${B:-build}/static
[ -x "$static/obrec" ] && [ -x "$static/obana" ] || skip "needs make static"
busybox=$(command -v busybox) && ! readelf -lW "$busybox" | grep INTERP >/dev/null || skip "needs busybox-static"

for p in obrec obana; do
	is "$p: shared libraries" "$(readelf -dW "$static/$p" | grep -c NEEDED)" 0
	is "$p: program interpreter" "$(readelf -lW "$static/$p" | grep -c INTERP)" 0
	is "$p: position independent" "$(readelf -hW "$static/$p" | grep -c 'Type: *DYN')" 1
done
within "obrec: bytes" "$(stat -c %s "$static/obrec")" 1000000 $((8 << 20))

# inside ROOT COMMAND...: in there, with what the kernel shows; the mounts end with the command
inside() {
	unshare -m sh -ec 'root=$1; shift
		mkdir -p "$root/proc" "$root/sys" "$root/tmp"
		mount -t proc proc "$root/proc"; mount --rbind /sys "$root/sys"
		[ ! -d "$root/dev" ] || mount --rbind /dev "$root/dev"
		exec env LC_ALL=C chroot "$root" "$@"' sh "$@"
}

# enough WHERE ROOT COMMAND...: COMMAND is recorded and analysed in there
enough() {
	local where=$1 root=$2 cause samples
	shift 2
	mkdir -p "$root/bin"
	cp "$static/obrec" "$static/obana" "$root/"
	inside "$root" /obrec -F 499 -e cpu,l4 -o /a.obz -- "$@" >"$T/err" 2>&1 || fail "$where: obrec: $(cat "$T/err")"
	inside "$root" /obana report /a.obz --flamegraph >"$T/report" 2>&1 || fail "$where: obana: $(cat "$T/report")"
	[ -s "$root/a.flamegraph.svg" ] || fail "$where: no flame graph"
	inside "$root" /obana query /a.obz --csv "SELECT coalesce(sum(count), 0) FROM sample WHERE kind = 'cpu'" >"$T/samples" || fail "$where: query"
	samples=$(tail -n 1 "$T/samples")
	[ "$samples" -ge 10 ] || fail "$where: $samples samples: $(cat "$T/err")"
	echo "ok: $where: $samples samples"
}

mkdir -p "$T/busybox/bin"
cp "$busybox" "$T/busybox/bin/"
enough busybox "$T/busybox" /bin/busybox sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'

# The archive of make dist, unpacked anywhere, where the kernel has no BTF: obrec finds it beside itself.
tree=$T/busybox/opt/obrec
mkdir -p "$tree/bin"
cp "$static/obrec" "$tree/bin/"
hidden() { inside "$T/busybox" /bin/busybox sh -c 'busybox mount -t tmpfs none /sys/kernel/btf; exec /opt/obrec/bin/obrec -q "$@"' sh "$@"; }
status=0; hidden -e l4 -o /b.obz -- /bin/busybox true 2>"$T/err" || status=$?
is "no BTF: exit" $status 4
OBJECT=${B:-build}/obrec.bpf.o scripts/btf -o "$tree/lib/obrec/btf" -r "$(uname -r)" /sys/kernel/btf/vmlinux >"$T/err" || fail "scripts/btf: $(cat "$T/err")"
hidden -e l4 -o /b.obz -- /bin/busybox true 2>"$T/err" || fail "with its BTF beside obrec: $(cat "$T/err")"

# Every Debian still in use: its C library and its perl, whose functions the profile names.
export OBREC_PACKAGES=${OBREC_PACKAGES:-${HOME:-/root}/.cache/obrec/packages}
for suite in bullseye,bullseye-security bookworm,bookworm-security trixie; do
	from=$(scripts/packages $suite base-files libc6 libcrypt1 perl-base) || { echo "not beside $suite: ${from##*$'\n'}"; continue; }
	suite=${suite%%,*}
	cp -a "$from" "$T/$suite"
	enough "$suite" "$T/$suite" /usr/bin/perl -e 'for (1..4e6) { $a{$_ % 10} += $_ }'
	inside "$T/$suite" /obana query /a.obz --csv "SELECT count(*) FROM function WHERE name LIKE 'Perl_%'" >"$T/named"
	within "$suite: functions of perl" "$(tail -n 1 "$T/named")" 2 1000
done
