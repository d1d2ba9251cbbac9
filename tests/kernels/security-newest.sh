# See security.inc.
KERNEL=newest
. tests/kernels/security.inc
