# See func.inc.
KERNEL=newest TAKEN=kprobe-multi
. tests/kernels/func.inc
