# See matrix.inc.
KERNEL=6.12 VM_CPUS=${VM_CPUS:-4}
. tests/kernels/matrix.inc
