# See matrix.inc.
KERNEL=6.12
. tests/kernels/matrix.inc
