# See matrix.inc.
KERNEL=6.12 VM_CPUS=${VM_CPUS:-3}
. tests/kernels/matrix.inc
