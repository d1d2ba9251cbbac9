# make dist: what the archive holds, and the packages as dpkg installs, upgrades and removes them: nothing is asked of the system,
# nothing stays behind. The programs run from where they were put.
set -e
cd "$TOP"
for need in dpkg zstd; do command -v $need >/dev/null || { echo "needs $need" >&2; exit 77; }; done
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
dist() { DIST=$d/dist EFFORT=0 make -s dist >"$d/log" 2>&1 || { cat "$d/log"; exit 1; }; }
dist
arch=$(dpkg --print-architecture)
archive=$(ls "$d"/dist/obrec-*-"$arch".tar.zst)
mkdir "$d/unpacked"
tar xf "$archive" -C "$d/unpacked" --strip-components=1
(cd "$d/unpacked" && find . -type f -printf '%m %P\n' | LC_ALL=C sort -k2)
for p in obrec obana; do [ "$(readelf -dW "$d/unpacked/bin/$p" | grep -c NEEDED)" = 0 ] && "$d/unpacked/bin/$p" --version >/dev/null; done
[ "$(stat -c %s "$d/unpacked/bin/obrec")" -le $((8 << 20)) ]
echo "== the same commit gives the same files"
(cd "$d/dist" && sha256sum -- *) >"$d/sums"
dist
(cd "$d/dist" && sha256sum --quiet -c "$d/sums")

echo "== packages"
[ "$(id -u)" = 0 ] || { echo "needs root for dpkg" >&2; exit 77; }
root=$d/root
mkdir -p "$root"/var/lib/dpkg/{info,updates}
: >"$root/var/lib/dpkg/status"
as_dpkg() { dpkg --root="$root" --log=/dev/null "$@" >"$d/log" 2>&1 || { cat "$d/log"; exit 1; }; }
ours() { (cd "$root" && find . -path ./var/lib/dpkg -prune -o -type f -printf '%m %u %P\n' | LC_ALL=C sort -k3); }
as_dpkg -i "$d"/dist/*.deb
ours
for p in obrec obana; do
	"$root/usr/bin/$p" --version | grep -q "$p"
	dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Package}: ${Status}; depends:${Depends}\n' $p
	gzip -dc "$root/usr/share/man/man1/$p.1.gz" | grep -c '^\.TH'
	bash -ec "source '$root/usr/share/bash-completion/completions/$p'; complete -p $p"
done
as_dpkg -i "$d"/dist/*.deb
as_dpkg --purge obrec obana
echo "== left behind: $(ours)"
find "$root" -mindepth 1 -not -path "$root/var*"
