# See matrix.inc. Built here for the other processor, recorded there, judged by this machine's obana: archives know no processor.
set -e
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "needs aarch64-linux-gnu-gcc (scripts/deps test)"; exit 77; }
sysroot=$(scripts/sysroot arm64) || { rc=$?; echo "$sysroot"; exit $rc; }
export B=build/aarch64-linux-gnu
# fentry: arm64 has it from 6.4 on
KERNEL=6.1-arm64 NO_FENTRY=1
mkdir -p $B; flock $B/lock make -s -j"$(nproc)" CROSS=aarch64-linux-gnu B=$B all static units workload
. tests/kernels/matrix.inc
