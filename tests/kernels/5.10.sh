# See matrix.inc. HOST=1 in the environment: also what obrec takes from its host and leaves there (host.inc), some minutes more.
KERNEL=5.10
. tests/kernels/matrix.inc
