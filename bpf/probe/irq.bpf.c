/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Interrupts and softirqs of the whole host: count and time of each, the delay from the raise of a
 * softirq to its run, and which processes were interrupted. Time of a softirq does not include
 * interrupts meanwhile.
 *
 * No program interrupts itself: interrupts are disabled in handlers, and a softirq does not
 * interrupt another one on its CPU.
 */
#include "bpf/metric.bpf.h"
#include "bpf/probe/irq.h"

struct irqaction {
	const char *name;
} __attribute__((preserve_access_index));

struct irq_cpu {
	__u64 hard_from, soft_from; /* when the handler began; 0: none runs */
	__u64 hard_ns;		    /* of all interrupts so far */
	__u64 hard_before;	    /* hard_ns when the softirq began */
	__u64 raised_ns[16];	    /* first raise that has not been served; 0: none */
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct irq_cpu);
} irq_cpus SEC(".maps");

static __always_inline struct irq_cpu *irq_this_cpu(void)
{
	__u32 zero = 0;

	return enabled ? bpf_map_lookup_elem(&irq_cpus, &zero) : NULL;
}

static __always_inline __u64 irq_number_on_cpu(__u32 number)
{
	return (bpf_get_smp_processor_id() + 1ULL) << 32 | number;
}

/* Counts the time that the interrupted process did not have. */
static __always_inline void irq_interrupted(__u32 by, __u64 ns)
{
	struct metric_key key = {};

	if (!is_recorded(bpf_get_current_pid_tgid() >> 32))
		return;
	metric_key_process(&key);
	key.part[IRQ_PART_BY] = by;
	count_add(PROBE_irq, SERIES_irq_interrupted, &key, ns);
}

static __always_inline int irq_hard_begin(void)
{
	struct irq_cpu *c = irq_this_cpu();

	if (c)
		c->hard_from = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int irq_hard_end(__u32 number, const char *name)
{
	struct irq_cpu *c = irq_this_cpu();
	struct metric_key key = {};
	__u64 ns;

	if (!c || !c->hard_from)
		return 0;
	ns = bpf_ktime_get_ns() - c->hard_from;
	c->hard_from = 0;
	c->hard_ns += ns;
	if (name)
		bpf_probe_read_kernel_str(key.part, IRQ_NAME_LEN, name);
	key.part[IRQ_PART_NUMBER] = number;
	hist_add_coarse(PROBE_irq, SERIES_irq_hard, &key, ns);
	key.part[IRQ_PART_NUMBER] = irq_number_on_cpu(number);
	count_add(PROBE_irq, SERIES_irq_hard_cpu, &key, ns);
	irq_interrupted(0, ns);
	return 0;
}

SEC("?raw_tp/irq_handler_entry")
int irq_hard_entry(struct bpf_raw_tracepoint_args *ctx)
{
	return irq_hard_begin();
}

SEC("?raw_tp/irq_handler_exit")
int irq_hard_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return irq_hard_end(ctx->args[0], BPF_CORE_READ((struct irqaction *)ctx->args[1], name));
}

/* Of x86: interrupts of the local APIC have no handler, but tracepoints of their own. */
#define IRQ_VECTOR(name, number)                                                                   \
	SEC("?raw_tp/" #name "_entry") int irq_##name##_entry(struct bpf_raw_tracepoint_args *ctx) \
	{                                                                                          \
		return irq_hard_begin();                                                           \
	}                                                                                          \
	SEC("?raw_tp/" #name "_exit") int irq_##name##_exit(struct bpf_raw_tracepoint_args *ctx)   \
	{                                                                                          \
		return irq_hard_end(number, NULL);                                                 \
	}
IRQ_VECTOR(local_timer, IRQ_LOC)
IRQ_VECTOR(reschedule, IRQ_RES)
IRQ_VECTOR(call_function, IRQ_CAL)
IRQ_VECTOR(call_function_single, IRQ_CAL)
IRQ_VECTOR(irq_work, IRQ_IWI)

/* Interrupts are disabled. */
SEC("?raw_tp/softirq_raise")
int irq_soft_raise(struct bpf_raw_tracepoint_args *ctx)
{
	struct irq_cpu *c = irq_this_cpu();
	__u32 number = ctx->args[0];

	if (c && number < IRQ_SOFT_CNT && !c->raised_ns[number & 15])
		c->raised_ns[number & 15] = bpf_ktime_get_ns();
	return 0;
}

SEC("?raw_tp/softirq_entry")
int irq_soft_entry(struct bpf_raw_tracepoint_args *ctx)
{
	struct metric_key key = {.part[IRQ_PART_NUMBER] = ctx->args[0]};
	__u32 number = ctx->args[0];
	struct irq_cpu *c = irq_this_cpu();
	__u64 raised_ns;

	if (!c || number >= IRQ_SOFT_CNT)
		return 0;
	raised_ns = c->raised_ns[number & 15];
	c->raised_ns[number & 15] = 0;
	c->hard_before = c->hard_ns;
	c->soft_from = bpf_ktime_get_ns();
	if (raised_ns)
		hist_add_coarse(PROBE_irq, SERIES_irq_delay, &key, c->soft_from - raised_ns);
	return 0;
}

SEC("?raw_tp/softirq_exit")
int irq_soft_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct metric_key key = {.part[IRQ_PART_NUMBER] = ctx->args[0]};
	struct irq_cpu *c = irq_this_cpu();
	__u64 ns, hard_ns;

	if (!c || !c->soft_from)
		return 0;
	ns = bpf_ktime_get_ns() - c->soft_from;
	c->soft_from = 0;
	hard_ns = c->hard_ns - c->hard_before;
	ns = ns > hard_ns ? ns - hard_ns : 0;
	hist_add_coarse(PROBE_irq, SERIES_irq_soft, &key, ns);
	key.part[IRQ_PART_NUMBER] = irq_number_on_cpu(ctx->args[0]);
	count_add(PROBE_irq, SERIES_irq_soft_cpu, &key, ns);
	irq_interrupted(1, ns);
	return 0;
}
