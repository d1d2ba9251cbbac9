# See matrix.inc.
KERNEL=6.1
. tests/kernels/matrix.inc
