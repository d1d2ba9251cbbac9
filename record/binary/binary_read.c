/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to readers about a file for which a missing answer is acceptable. */
#include <errno.h>
#include <unistd.h>

#include "record/binary/binary_registry.h"
#include "record/reader/readers.h"

uint64_t binaries_device_of(const struct mapped *m)
{
	return m ? (uint64_t)m->major << 32 | m->minor : 0;
}

int binaries_lose_answer(struct binaries *b, int err)
{
	if (err == -ETIMEDOUT || err == -EAGAIN || err == -EIO)
		binaries_lose(b, "file access",
			      err == -ETIMEDOUT ? "a file timed out"
			      : err == -EAGAIN	? "no reader process available"
						: "a reader process failed on a file");
	return err;
}

struct reading_request *binaries_ask_now(struct binaries *b, struct parcel *m, uint32_t pid,
					 uint64_t device)
{
	struct reading_request *r = readers__ask(b->opts.readers, m, pid, device);

	if (!r || readers__await(b->opts.readers, r))
		return r;
	readers__later(r, NULL, NULL);
	return NULL;
}

int binaries_read_content(struct binaries *b, const struct mapped *m, const struct binary *bin,
			  int *fd, char id[IMAGE_ID_CAP])
{
	static const struct mapped nowhere;
	struct reading_request *r;
	struct parcel ask;
	int own = -1, err;

	read_content_ask(&ask, bin->fd, m ? m : &nowhere, &bin->image, bin->size, !m);
	r = binaries_ask_now(b, &ask, m ? m->pid : 0, binaries_device_of(m));
	err = r ? read_content_take(&r->m, &own, id) : -ETIMEDOUT;
	readers__done(r);
	if (!err && fd)
		*fd = own;
	else if (own >= 0)
		close(own);
	return binaries_lose_answer(b, err);
}

uint64_t binaries_read_tag(struct binaries *b, int fd)
{
	struct reading_request *r;
	struct parcel ask;
	uint64_t tag;

	if (fd < 0)
		return 0;
	read_tag_ask(&ask, fd, &b->content);
	r = binaries_ask_now(b, &ask, 0, 0);
	tag = r ? read_tag_take(&r->m) : 0;
	readers__done(r);
	return tag;
}
