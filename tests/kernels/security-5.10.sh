# See security.inc.
KERNEL=5.10
. tests/kernels/security.inc
