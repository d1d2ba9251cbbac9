# Both programs build without a warning with Debian 13's compilers and libraries, in a chroot of it, and run there.
set -e
cd "$TOP"
cached=${OBREC_DEBIAN:-${XDG_CACHE_HOME:-$HOME/.cache}/obrec/debian}/trixie
[ -n "${DEBIAN13-}" ] || [ -e "$cached/packages" ] || { echo "takes minutes to get a Debian 13: DEBIAN13=1 does" >&2; exit 77; }
packages=$(LIST=1 scripts/deps build | tr ' ' '\n' | grep -vx git | xargs)
root=$(scripts/debian trixie $packages) || { echo "${root##*$'\n'}" >&2; exit 77; }
d=$(mktemp -d "$root/root/build.XXXXXX")
trap 'rm -rf "$d"' EXIT
cp -a Makefile scripts format record analyze bpf tests "$d/"
inside=${d#"$root"}
unshare -m sh -ec 'mount -t proc proc "$1/proc"; exec chroot "$1" sh -ec "cd \"$2\"; exec make -s -j\"$3\" all VERSION=13"' sh "$root" "$inside" "$(nproc)" >"$d/log" 2>&1 ||
	{ cat "$d/log"; exit 1; }
! grep -B 3 -A 3 'warning:' "$d/log"
for p in obrec obana; do chroot "$root" "$inside/build/$p" --version; done
