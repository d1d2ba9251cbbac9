# See func.inc.
[ -n "${ALL_KERNELS-}" ] || { echo "takes minutes; kernels/6.12 verifies all programs there: ALL_KERNELS=1 runs it"; exit 77; }
KERNEL=6.12 TAKEN=kprobe-multi
. tests/kernels/func.inc
