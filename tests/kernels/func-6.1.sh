# See func.inc.
KERNEL=6.1 TAKEN=fentry
. tests/kernels/func.inc
