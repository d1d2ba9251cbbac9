/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_IRQ_H
#define BPF_IRQ_H

#include "bpf/metric.h"

enum {
	SERIES_irq_hard = SERIES_OWN,
	SERIES_irq_hard_cpu,
	SERIES_irq_soft,
	SERIES_irq_soft_cpu,
	SERIES_irq_delay,
	SERIES_irq_interrupted,
};
/*
 * Key parts of interrupts: the name of the handler (0 to 2) and the number; of softirqs: the
 * number. Vectors, which have no handler, have the numbers of enum irq_vector. The series by CPU
 * also have its number + 1 in the upper half of the number.
 */
#define IRQ_NAME_LEN 24
enum { IRQ_PART_NUMBER = 3 };
/* After the process name: 0 interrupts, 1 softirqs. */
enum { IRQ_PART_BY = 2 };

#define IRQ_SOFT_CNT 10
enum irq_vector {
	IRQ_LOC = 0x40000000, /* more than any interrupt's number */
	IRQ_RES,
	IRQ_CAL,
	IRQ_IWI,
	IRQ_VECTORS_END,
};

#endif
