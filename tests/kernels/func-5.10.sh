# See func.inc.
KERNEL=5.10 TAKEN=fentry
. tests/kernels/func.inc
