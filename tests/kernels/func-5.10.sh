# See func.inc.
KERNEL=5.10 TAKEN=each
. tests/kernels/func.inc
