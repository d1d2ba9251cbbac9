# See func.inc.
KERNEL=6.12 TAKEN=kprobe-multi
. tests/kernels/func.inc
