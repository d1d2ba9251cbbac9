# See func.inc.
KERNEL=6.1 TAKEN=each
. tests/kernels/func.inc
