/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/uio.h>

#include "record/process/read_memory.h"
#include "record/reader/reader_process.h"

enum { PAGE_SZ = 4096, PIECES = MEMORY_CHUNK_SZ / PAGE_SZ + 1 };

/* In pieces that end with a page: a piece is read completely or not at all. */
static size_t read_chunk(pid_t pid, uint64_t at, char *to)
{
	struct iovec local = {to, MEMORY_CHUNK_SZ}, remote[PIECES];
	size_t left = MEMORY_CHUNK_SZ, cnt = 0;
	ssize_t n;

	while (left) {
		size_t len = PAGE_SZ - at % PAGE_SZ;

		len = len < left ? len : left;
		remote[cnt++] = (struct iovec){(void *)(uintptr_t)at, len};
		at += len;
		left -= len;
	}
	n = process_vm_readv(pid, &local, 1, remote, cnt, 0);
	return n < 0 ? 0 : n;
}

int read_memory_serve(int proc, struct parcel *request, struct parcel *answer)
{
	pid_t pid = parcel_get_u64(request);
	char bytes[MEMORY_CHUNK_SZ];

	while (request->at < request->len && !request->bad) {
		size_t len = read_chunk(pid, parcel_get_u64(request), bytes);

		parcel_put_span(answer, (struct span){bytes, len});
	}
	return request->bad ? -EBADMSG : 0;
}

void read_memory_ask(struct parcel *m, uint32_t pid)
{
	parcel_init(m, READING_memory);
	parcel_put_u64(m, pid);
}

void read_memory_at(struct parcel *m, uint64_t at)
{
	parcel_put_u64(m, at);
}

struct span read_memory_next(struct parcel *answer)
{
	return answer->rc ? (struct span){"", 0} : parcel_get_span(answer);
}
