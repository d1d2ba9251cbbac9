/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/elf/binary_content.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/base/idmap.h"

#define BLOCK_SZ (64u << 10)

/* Domain separation: all uses share one key. */
enum use { USE_FILE = 1, USE_BYTES, USE_PLACES };

static void begin(const struct content_key *k, struct umac64_ctx *mac, enum use use)
{
	unsigned char nonce = use;

	*mac = k->mac;
	umac64_set_nonce(mac, sizeof(nonce), &nonce);
}

static uint64_t end(struct umac64_ctx *mac)
{
	uint64_t tag = 0;

	umac64_digest(mac, sizeof(tag), (uint8_t *)&tag);
	return tag ? tag : 1;
}

static uint64_t tag_bytes(const struct content_key *k, enum use use, const void *p, size_t len)
{
	struct umac64_ctx mac;

	begin(k, &mac, use);
	umac64_update(&mac, len, p);
	return end(&mac);
}

void content_key_init(struct content_key *k, const unsigned char secret[CONTENT_KEY_SZ])
{
	umac64_set_key(&k->mac, secret);
	k->places = tag_bytes(k, USE_PLACES, "", 0);
}

int content_key_random(struct content_key *k)
{
	unsigned char secret[CONTENT_KEY_SZ];

	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return -EIO;
	content_key_init(k, secret);
	return 0;
}

uint64_t content_tag_bytes(const struct content_key *k, const void *p, size_t len)
{
	return tag_bytes(k, USE_BYTES, p, len);
}

static int add_block(struct umac64_ctx *mac, int fd, unsigned char *buf, uint64_t at, size_t len)
{
	while (len) {
		ssize_t n = pread(fd, buf, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		umac64_update(mac, n, buf);
		at += n;
		len -= n;
	}
	return 0;
}

/* Position of the block in each stride of the file; the whole stride if it is not larger. */
static uint64_t place(const struct content_key *k, uint64_t at, uint64_t stride)
{
	return stride > BLOCK_SZ ? at + idmap_mix(k->places ^ at) % (stride - BLOCK_SZ + 1) : at;
}

static int add_file(const struct content_key *k, struct umac64_ctx *mac, int fd, uint64_t sz,
		    uint64_t max, const atomic_bool *cancel)
{
	uint64_t stride = sz <= max ? BLOCK_SZ : sz / (max / BLOCK_SZ);
	unsigned char *buf = malloc(BLOCK_SZ);
	int err = buf ? 0 : -ENOMEM;

	for (uint64_t at = 0; !err && at < sz; at += stride) {
		uint64_t from = place(k, at, stride), left = from < sz ? sz - from : 0;

		err = cancel && atomic_load(cancel)
			      ? -ECANCELED
			      : add_block(mac, fd, buf, from, left < BLOCK_SZ ? left : BLOCK_SZ);
	}
	free(buf);
	return err;
}

int content_tag(const struct content_key *k, int fd, uint64_t max, const atomic_bool *cancel,
		uint64_t *tag)
{
	struct umac64_ctx mac;
	uint64_t about[2];
	struct stat st;
	int err;

	*tag = 0;
	if (fstat(fd, &st))
		return -errno;
	about[0] = st.st_size;
	about[1] = st.st_uid;
	begin(k, &mac, USE_FILE);
	umac64_update(&mac, sizeof(about), (const uint8_t *)about);
	err = add_file(k, &mac, fd, st.st_size, max, cancel);
	if (!err)
		*tag = end(&mac);
	return err;
}
