# See security.inc.
KERNEL=6.1
. tests/kernels/security.inc
