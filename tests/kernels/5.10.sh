# See matrix.inc.
KERNEL=5.10
. tests/kernels/matrix.inc
