// SPDX-License-Identifier: BSD-2-Clause
// A known number of objects by every operator new, with calls between them that throw, for tests of
// the probe alloc: news exact COUNT. Waits for a byte on stdin. Writes "alloc FUNCTION OBJECTS
// BYTES", and "live ..." of those not deleted, as allocs does.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <unistd.h>

#define FN extern "C" __attribute__((noinline, noclone, used))

static const volatile size_t huge = (size_t)1 << 62;
static void *volatile kept;
static int caught, asked;

FN void too_large()
{
	try {
		kept = ::operator new(huge);
	} catch (const std::bad_alloc &) {
		caught++;
	}
}

#define NEW(name, how)                                                                             \
	FN void name()                                                                             \
	{                                                                                          \
		kept = how;                                                                        \
	}
NEW(heap_new, ::operator new(200))
NEW(heap_nothrow, ::operator new(304, std::nothrow))
NEW(heap_aligned, ::operator new(448, std::align_val_t(64)))
NEW(heap_aligned_nothrow, ::operator new(512, std::align_val_t(128), std::nothrow))
NEW(heap_array, new char[96])
NEW(heap_kept, ::operator new(56))

FN void heap_malloc()
{
	kept = malloc(104);
}

// Frees nothing, but lets the operator try again, every other time.
static void handler()
{
	if (++asked % 2 == 0)
		throw std::bad_alloc();
}

static void once()
{
	too_large();
	heap_new();
	::operator delete(kept, (size_t)200);
	too_large();
	heap_nothrow();
	::operator delete(kept, std::nothrow);
	too_large();
	heap_aligned();
	::operator delete(kept, std::align_val_t(64));
	kept = ::operator new(huge, std::nothrow);
	heap_aligned_nothrow();
	::operator delete(kept, std::align_val_t(128), std::nothrow);
	too_large();
	heap_array();
	delete[](char *) kept;
	too_large();
	heap_malloc();
	free(kept);
	too_large();
	heap_kept();
}

int main(int argc, char **argv)
{
	const int count = argc == 3 ? atoi(argv[2]) : 0;
	const struct {
		const char *name;
		int bytes;
	} by[] = {{"new", 200},	 {"nothrow", 304}, {"aligned", 448}, {"aligned_nothrow", 512},
		  {"array", 96}, {"malloc", 104},  {"kept", 56}};
	char go;

	if (count <= 0 || read(0, &go, 1) != 1) {
		fprintf(stderr, "usage: news exact COUNT\n");
		return 2;
	}
	for (int i = 0; i < count; i++) {
		std::set_new_handler(i % 2 ? handler : nullptr);
		once();
	}
	if (caught != 6 * count)
		return 1;
	for (const auto &b : by)
		printf("alloc heap_%s %d %d\n", b.name, count, count * b.bytes);
	printf("live heap_kept %d %d\n", count, count * 56);
}
