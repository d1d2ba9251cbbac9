# See security.inc.
KERNEL=6.12
. tests/kernels/security.inc
