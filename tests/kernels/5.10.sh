# See matrix.inc. HOST=1 in the environment: also what obrec takes from its host and leaves there (host.inc), 160 s of CPU more.
KERNEL=5.10
. tests/kernels/matrix.inc
