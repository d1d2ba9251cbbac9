/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/symbol_budget.h"

/* Amount given to a thread at a time, so that threads rarely contend for the shared counters. */
enum { SLICE = 1 << 16 };

static void grant(struct budget *b, enum budget_kind kind, uint64_t n)
{
	atomic_fetch_add(&b->granted[kind], (long long)n);
	atomic_fetch_add(&b->left[kind], (long long)n);
}

void budget_init_reserve(struct budget *b)
{
	budget_init(b, NULL);
	grant(b, BUDGET_WORK, BUDGET_WORK_RESERVE);
	grant(b, BUDGET_BYTES, BUDGET_BYTES_RESERVE);
}

void budget_init(struct budget *b, struct budget *reserve)
{
	*b = (struct budget){.reserve = reserve};
}

void budget_grant(struct budget *b, uint64_t work, uint64_t bytes)
{
	grant(b, BUDGET_WORK, work);
	grant(b, BUDGET_BYTES, bytes);
}

void budget_settle(struct budget *b)
{
	for (int kind = 0; kind < BUDGET_KINDS && b->reserve; kind++) {
		uint64_t granted = (uint64_t)b->granted[kind];

		b->reserve->settled_granted[kind] += granted;
		b->reserve->settled_spent[kind] += granted - (uint64_t)b->left[kind];
	}
}

void budget_add_file(struct budget *b, uint64_t sz)
{
	if (sz > UINT64_C(1) << 40)
		sz = UINT64_C(1) << 40;
	grant(b, BUDGET_WORK, sz * BUDGET_WORK_PER_BYTE);
	grant(b, BUDGET_BYTES, sz * BUDGET_BYTES_PER_BYTE);
}

void budget_add_addresses(struct budget *b, uint64_t cnt)
{
	grant(b, BUDGET_WORK, cnt * BUDGET_WORK_PER_ADDRESS);
	grant(b, BUDGET_BYTES, cnt * BUDGET_BYTES_PER_ADDRESS);
}

static bool take(struct budget *b, enum budget_kind kind, uint64_t n)
{
	if (n > INT64_MAX / 2)
		return false;
	if (atomic_fetch_sub(&b->left[kind], (long long)n) >= (long long)n)
		return true;
	atomic_fetch_add(&b->left[kind], (long long)n);
	return false;
}

/* Takes only the amount needed from the reserve, because amounts given back stay with the image. */
bool meter_refill(struct meter *m, enum budget_kind kind, uint64_t n)
{
	struct budget *b = m->budget;

	if (!meter_over(m)) {
		if (n < SLICE && take(b, kind, SLICE)) {
			m->left[kind] += SLICE - n;
			return true;
		}
		if (take(b, kind, n) || (b->reserve && take(b->reserve, kind, n)))
			return true;
		atomic_store(&b->over, true);
	}
	m->left[BUDGET_WORK] = m->left[BUDGET_BYTES] = 0;
	return false;
}

void meter_fini(struct meter *m)
{
	for (int kind = 0; kind < BUDGET_KINDS; kind++) {
		if (m->budget)
			atomic_fetch_add(&m->budget->left[kind], (long long)m->left[kind]);
		m->left[kind] = 0;
	}
}

int meter_grow_slow(struct meter *m, void *array_p, size_t *cap, size_t need, size_t sz)
{
	size_t n = *cap ? *cap : 16;

	while (n < need)
		n += n / 2;
	if (!meter_bytes(m, (n - *cap) * sz) || !meter_work(m, n * sz / 64))
		return -E2BIG;
	return grow(array_p, cap, need, sz);
}

void *meter_calloc(struct meter *m, size_t cnt, size_t sz)
{
	if (sz && cnt > SIZE_MAX / 2 / sz)
		return NULL;
	return meter_bytes(m, cnt * sz) && meter_work(m, cnt * sz / 64) ? calloc(cnt, sz) : NULL;
}

bool meter_sort(struct meter *m, size_t cnt)
{
	uint64_t each = 4;

	for (size_t n = cnt; n > 1; n /= 2)
		each++;
	return meter_work(m, each * cnt);
}
