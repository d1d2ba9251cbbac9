/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#include "bpf/kernel_stack.bpf.h"

#define TRIES_MOST 512 /* then, one stack in TRY_SHARE is tried */
#define TRY_SHARE 16   /* a power of two */
#define FIRST_WORDS 32 /* the frame of the program's caller is within these */
#define FIRST_FRAMES 8 /* one of these */
#define PAGE_SIZE 4096ULL
#define IRQ_STACK_SIZE 16384

struct kernel_stacks_map kernel_stacks SEC(".maps");

/* In assembler, as compilers turn such expressions into branches, each of which the verifier would
 * follow, at each step of a loop. */
static __always_inline __u64 is_equal(__u64 a, __u64 b)
{
	__u64 other = a ^ b, equal;

	asm volatile("%1 = %0; %1 = -%1; %1 |= %0; %1 >>= 63; %1 ^= 1" : "+r"(other), "=&r"(equal));
	return equal;
}

/* All ones if a >= b, else 0. */
static __always_inline __u64 is_not_below(__u64 a, __u64 b)
{
	asm volatile("%0 -= %1; %0 s>>= 63; %0 ^= -1" : "+r"(a) : "r"(b));
	return a;
}

static __always_inline __u64 full(__u32 low)
{
	return 0xffffffffULL << 32 | low;
}

static __always_inline long read_stack(void *to, __u64 cnt, __u64 from)
{
	asm volatile("" : "+r"(cnt)); /* what is checked is what is used */
	if (cnt > KERNEL_STACK_WORDS)
		return -1;
	return cnt ? bpf_probe_read_kernel(to, cnt * 8, (const void *)from) : 0;
}

/* Reads words of the stack, at least those up to number `cnt`. */
static __always_inline bool read_words(struct kernel_stacks *k, __u32 cnt)
{
	__u64 irq = cnt < k->irq_cnt ? cnt : k->irq_cnt, rest = cnt - irq;

	if (cnt <= k->read_cnt)
		return true;
	if (read_stack(k->words, irq, k->irq_from))
		return false;
	asm volatile("" : "+r"(irq));
	irq &= KERNEL_STACK_WORDS - 1;
	if (read_stack(&k->words[irq], rest, k->from))
		return false;
	k->read_cnt = cnt;
	return true;
}

/* Whether number `at` is this stack. */
__noinline int kernel_stack_is(__u32 at)
{
	struct kernel_stacks *k = kernel_stacks_here();
	struct kernel_stack *s;
	__u64 other = 0, last = 0;

	if (!k)
		return 0;
	s = &k->known[at & (KERNEL_STACKS - 1)];
	if (s->key != k->key || k->all_cnt < s->words_cnt || !read_words(k, s->words_cnt))
		return 0;
	for (__u32 i = 0; i < KERNEL_STACK_PLACES; i++) {
		if (i >= s->places)
			break;
		other |= k->words[s->at[i] & (KERNEL_STACK_WORDS - 1)] ^ full(s->word[i]);
	}
	if (other || bpf_probe_read_kernel(&last, sizeof(last), (void *)(k->to - s->last_at * 8)))
		return 0;
	return last == full(s->frames[(s->cnt - 1) & (KERNEL_STACK_FRAMES - 1)]);
}

/* Takes number `at` as the stack. */
__noinline int kernel_stack_use(__u32 at)
{
	struct kernel_stacks *k = kernel_stacks_here();
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	struct kernel_stack *known;

	if (!k || !s)
		return 0;
	known = &k->known[at & (KERNEL_STACKS - 1)];
	s->sample.kernel_stack = known->hash;
	if (stack_is_sent(known->hash))
		return KERNEL_STACK_KNOWN | known->marked;
	for (__u32 i = 0; i < KERNEL_STACK_FRAMES; i++)
		s->kernel_frames[i] = full(known->frames[i]);
	stack_take_kernel(ENTRY_TRACEPOINT, known->cnt, false);
	return KERNEL_STACK_KNOWN | known->marked;
}

/*
 * `from` is not on the thread's stack: the CPU's stack for interrupts (call_on_irqstack() of
 * arch/x86/include/asm/irq_stack.h), in whose first word is where the thread's stack goes on. A
 * page that is not mapped is behind it (CONFIG_VMAP_STACK). Returns nonzero if it is that stack.
 */
__noinline int kernel_stack_of_irq(void)
{
	struct kernel_stacks *k = kernel_stacks_here();
	__u64 page, word = 0;

	if (!k)
		return 0;
	if (k->from >= k->irq_top || k->irq_top - k->from > IRQ_STACK_SIZE) {
		page = k->from & ~(PAGE_SIZE - 1);
		for (int i = 0; i < IRQ_STACK_SIZE / PAGE_SIZE; i++) {
			page += PAGE_SIZE;
			if (bpf_probe_read_kernel(&word, sizeof(word), (void *)page))
				break;
		}
		k->irq_top = page - 8;
	}
	if (bpf_probe_read_kernel(&word, sizeof(word), (void *)k->irq_top) || word >= k->to ||
	    k->to - word > STACK_SIZE_MAX || word & 7)
		return 0;
	k->irq_from = k->from;
	k->irq_cnt = (k->irq_top - k->from) / 8;
	k->from = word;
	return 1;
}

__noinline int kernel_stack_known(__u32 site)
{
	struct kernel_stacks *k = kernel_stacks_here();
	__u64 call[2] = {0}; /* the system call's number, and where it was called */
	__u32 at;

	if (!k)
		return 0;
	k->words_cnt = k->read_cnt = k->irq_cnt = 0;
	if (k->from & 7 ||
	    ((k->to <= k->from || k->to - k->from > STACK_SIZE_MAX) && !kernel_stack_of_irq()) ||
	    bpf_probe_read_kernel(call, sizeof(call), (void *)(k->to + KERNEL_STACK_CALL_AT)))
		return 0;
	if ((__s64)call[0] < 0)
		call[1] = 0; /* no system call: anywhere in the program */
	k->all_cnt = k->irq_cnt + (k->to - k->from) / 8;
	if (k->all_cnt <= KERNEL_STACK_WORDS)
		k->words_cnt = k->all_cnt;
	k->site = site;
	k->key = ((call[0] ^ call[1] ^ (__u64)k->irq_cnt << 16) * KERNEL_STACK_WAYS + site) *
		 2654435761u;
	at = k->key >> 20 & (KERNEL_STACKS - KERNEL_STACK_WAYS);
	for (__u32 i = 0; i < KERNEL_STACK_WAYS; i++)
		if (kernel_stack_is(at + i))
			return kernel_stack_use(at + i);
	return 0;
}

/* ---- learning; stack_take_kernel() has made the addresses in the scratch those of calls ---- */

/* Finds the first of the addresses that is on the stack: those before are of the program. Returns
 * nonzero if there is one. */
__noinline int kernel_stack_first(__u32 cnt)
{
	struct kernel_stacks *k = kernel_stacks_here();
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	__u64 found = 0, first = 0, first_at = 0, is;

	if (!k || !s)
		return 0;
	for (__u32 at = 0; at < FIRST_WORDS; at++) {
		for (__u32 i = 0; i < FIRST_FRAMES; i++) {
			is = is_equal(k->words[at] - 1, s->kernel_frames[i]) & ~found &
			     ~is_not_below(i, cnt);
			first |= i & -is;
			first_at |= at & -is;
			found |= is;
		}
	}
	k->first = first;
	k->first_at = first_at;
	return found && first_at < k->words_cnt;
}

/* Loops are not left early: the verifier would follow each way out. */

/* Finds a place for each address, from the first word on. Returns the number of those with one and
 * of those before the first. */
__noinline int kernel_stack_places(__u32 cnt)
{
	struct kernel_stacks *k = kernel_stacks_here();
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	__u64 i, begin, end;

	if (!k || !s)
		return 0;
	i = k->first;
	begin = k->first_at;
	end = k->words_cnt;
	for (__u32 at = 0; at < KERNEL_STACK_WORDS; at++) {
		asm volatile("" : "+r"(i));
		i &= KERNEL_STACK_FRAMES - 1;
		k->at[i] = at;
		i += is_equal(k->words[at] - 1, s->kernel_frames[i]) & is_not_below(at, begin) &
		     ~is_not_below(at, end) & ~is_not_below(i, cnt);
	}
	return i;
}

/* The same from the last word on. Returns nonzero if the places are the same. */
__noinline int kernel_stack_places_agree(__u32 cnt)
{
	struct kernel_stacks *k = kernel_stacks_here();
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	__u64 i = cnt - 1, end, left, wrong = 0, is;

	if (!k || !s)
		return 0;
	end = k->words_cnt;
	left = cnt - k->first;
	for (__u32 n = 1; n <= KERNEL_STACK_WORDS; n++) {
		__u32 at = KERNEL_STACK_WORDS - n;

		asm volatile("" : "+r"(i));
		i &= KERNEL_STACK_FRAMES - 1;
		is = is_equal(k->words[at] - 1, s->kernel_frames[i]) & ~is_not_below(at, end) &
		     ~is_equal(left, 0);
		wrong |= is & ~is_equal(k->at[i], at);
		i -= is;
		left -= is;
	}
	return !left && !(wrong & 1);
}

/* Stores as number `to` what is to be compared. Returns the number of places, 0 if there are too
 * many. */
__noinline int kernel_stack_store(__u32 to, __u32 cnt)
{
	struct kernel_stacks *k = kernel_stacks_here();
	struct kernel_stack *known;
	__u64 n = 0, i, first, begin;

	if (!k)
		return 0;
	known = &k->known[to & (KERNEL_STACKS - 1)];
	first = k->first;
	begin = k->at[first & (KERNEL_STACK_FRAMES - 1)];
	for (__u32 at = 0; at < KERNEL_STACK_WORDS; at++) {
		i = n;
		asm volatile("" : "+r"(i));
		i &= KERNEL_STACK_PLACES - 1;
		known->at[i] = at;
		known->word[i] = k->words[at];
		n += is_equal(k->words[at] >> 32, 0xffffffff) & ~is_not_below(at, begin);
	}
	for (__u32 frame = 0; frame < KERNEL_STACK_FRAMES; frame++) {
		i = n;
		asm volatile("" : "+r"(i));
		i &= KERNEL_STACK_PLACES - 1;
		known->at[i] = k->at[frame];
		known->word[i] = k->words[k->at[frame] & (KERNEL_STACK_WORDS - 1)];
		n += is_not_below(frame, first) & ~is_not_below(frame, cnt) & 1;
	}
	return n < KERNEL_STACK_PLACES ? n : 0;
}

static __always_inline bool is_worth_a_try(struct kernel_stacks *k)
{
	return k->tries++ < TRIES_MOST || !(bpf_get_prandom_u32() & (TRY_SHARE - 1));
}

__noinline int kernel_stack_learn(__u32 cnt, __u32 mark)
{
	struct kernel_stacks *k = kernel_stacks_here();
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	struct kernel_stack *known;
	__u32 to, places;

	if (!k || !s || !k->words_cnt || cnt < 2 || cnt >= KERNEL_STACK_FRAMES ||
	    !is_worth_a_try(k) || !read_words(k, k->words_cnt))
		return 0;
	k->first = k->first_at = 0;
	if (k->site != KERNEL_STACK_SLEEPER && !kernel_stack_first(cnt))
		return 0;
	if (kernel_stack_places(cnt) != cnt || !kernel_stack_places_agree(cnt))
		return 0;
	to = (k->key >> 20 & (KERNEL_STACKS - KERNEL_STACK_WAYS)) +
	     (k->turn++ & (KERNEL_STACK_WAYS - 1));
	asm volatile(""
		     : "+r"(to),
		       "+r"(cnt)); /* the compiler would leave out masks that the verifier needs */
	known = &k->known[to & (KERNEL_STACKS - 1)];
	known->key = 0;
	places = kernel_stack_store(to, cnt - 1);
	if (!places)
		return 0;
	known->places = places;
	known->words_cnt = k->at[(cnt - 2) & (KERNEL_STACK_FRAMES - 1)] + 1;
	known->last_at = k->words_cnt - k->at[(cnt - 1) & (KERNEL_STACK_FRAMES - 1)];
	for (__u32 i = 0; i < KERNEL_STACK_FRAMES; i++)
		known->frames[i] = s->kernel_frames[i] + 1;
	known->cnt = cnt;
	known->marked = mark ? KERNEL_STACK_MARKED : 0;
	known->hash = s->sample.kernel_stack;
	known->key = k->key;
	return 0;
}
