# See matrix.inc. Seen on 7.2: a task can be preempted inside a tracepoint's program, and a run that another task begins on that
# CPU meanwhile is skipped, which the kernel counts as missed. Emulation stretches that window from under a microsecond to what
# can be seen, so calls may be missing here, as many as the archive says at most.
KERNEL=newest LOSSES=counted
. tests/kernels/matrix.inc
