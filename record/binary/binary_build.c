/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the binary that a file belongs to. The same build under several inodes (e.g. in several
 * containers) is one binary, but only if the contents are equal (binary_content.h). Contents are
 * compared only when a second file has the key of a known build, so few files are read for this.
 *
 * In the archive an id also stands for one content. The first binary hit keeps its build-id;
 * another binary with that build-id is identified by its content.
 */
#include <nettle/sha1.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "format/text.h"
#include "record/binary/binary_registry.h"

/* Key from cheap properties: build-id, size and segments. Without a build-id the key identifies the
 * file itself. */
static uint64_t cheap_key(const struct image *im, const struct stat *st)
{
	uint64_t h = idmap_mix(im->loads_hash ^ st->st_size);

	for (const char *p = im->build_id; *p; p++)
		h = idmap_mix(h ^ (unsigned char)*p);
	if (!im->build_id[0]) {
		h = idmap_mix(h ^ st->st_dev);
		h = idmap_mix(h ^ st->st_ino);
		h = idmap_mix(h ^ (st->st_mtim.tv_sec * 1000000000ULL + st->st_mtim.tv_nsec));
	}
	return h ? h : 1;
}

static uint64_t tag_of(struct binaries *b, const struct binary *bin)
{
	uint64_t *tag = &b->tags[bin->id - 1];

	if (!*tag)
		*tag = binaries_read_tag(b, bin->fd);
	return *tag;
}

/* Key for the second and further contents that have the same cheap key. */
static uint64_t key_of_tag(uint64_t cheap, uint64_t tag)
{
	uint64_t key = idmap_mix(cheap ^ tag);

	return key ? key : 1;
}

static struct binary *candidate(const struct binaries *b, const struct image *im, uint64_t key,
				uint64_t size)
{
	struct binary *bin = idmap_get(&b->builds, key);

	return bin && bin->size == size && bin->image.loads_hash == im->loads_hash ? bin : NULL;
}

struct binary *binaries_find_build(struct binaries *b, const struct image *im, int fd,
				   const struct stat *st, struct build *build)
{
	struct binary *bin;

	*build = (struct build){.cheap = cheap_key(im, st)};
	build->key = build->cheap;
	if (!im->build_id[0])
		return NULL;
	bin = candidate(b, im, build->key, st->st_size);
	if (!bin)
		return NULL;
	build->tag = binaries_read_tag(b, fd);
	if (build->tag && tag_of(b, bin) == build->tag)
		return bin;
	build->key = build->tag ? key_of_tag(build->cheap, build->tag) : 0;
	return build->tag ? candidate(b, im, build->key, st->st_size) : NULL;
}

/* Returns the id of a dropped binary with this content that was hit; 0: none. */
static uint32_t recall(struct binaries *b, const struct image *im, int fd, struct build *build)
{
	uint32_t id = (uintptr_t)idmap_get(&b->known, build->cheap);

	if (id && im->build_id[0]) {
		if (!build->tag)
			build->tag = binaries_read_tag(b, fd);
		if (!build->tag)
			return 0;
		if (b->tags[id - 1] != build->tag)
			id = (uintptr_t)idmap_get(&b->known, key_of_tag(build->cheap, build->tag));
	}
	return id && !binaries__get(b, id) ? id : 0;
}

struct binary *binaries_add_build(struct binaries *b, struct span path, const struct image *im,
				  int fd, uint64_t size, struct build *build)
{
	uint32_t before = build->key ? recall(b, im, fd, build) : 0;
	struct binary *bin = before ? binaries_add_again(b, path, before) : binaries_add(b, path);

	if (!bin)
		return NULL;
	bin->hit = before != 0;
	bin->image = *im;
	bin->size = size;
	bin->cheap_key = build->key ? build->cheap : 0;
	bin->key = build->key;
	bin->has_build_id = im->build_id[0];
	b->tags[bin->id - 1] = build->tag;
	if (bin->has_build_id && bin->key)
		idmap_put(&b->builds, bin->key, bin);
	return bin;
}

void binaries_drop_build(struct binaries *b, struct binary *bin)
{
	if (bin->key && idmap_get(&b->builds, bin->key) == bin)
		idmap_del(&b->builds, bin->key);
}

void binaries_remember(struct binaries *b, struct binary *bin)
{
	uint64_t key = bin->cheap_key;
	uint32_t other = key ? (uintptr_t)idmap_get(&b->known, key) : 0;

	if (!key || (bin->has_build_id && !tag_of(b, bin)))
		return;
	if (other && other != bin->id && bin->has_build_id)
		key = key_of_tag(key, tag_of(b, bin));
	idmap_put(&b->known, key, (void *)(uintptr_t)bin->id);
}

/* ---- names in the archive ---- */

static bool same_content(struct binaries *b, uint32_t owner, const struct binary *bin)
{
	const struct binary *other = binaries__get(b, owner);
	uint64_t tag;

	if (owner == bin->id)
		return true;
	if (!strncmp(bin->image.build_id, "sha1:", 5) && bin->size <= IMAGE_ID_WHOLE_SZ)
		return true; /* the id covers the whole content */
	tag = other ? tag_of(b, other) : b->tags[owner - 1];
	return tag && tag == tag_of(b, bin);
}

/* Returns true if the id now belongs to this binary, or to another file with the same content. */
static bool claim(struct binaries *b, const struct binary *bin, uint32_t *owner)
{
	const char *id = bin->image.build_id;
	uint64_t key = content_tag_bytes(&b->content, id, strlen(id));

	*owner = (uintptr_t)idmap_get(&b->claims, key);
	if (*owner)
		return same_content(b, *owner, bin);
	idmap_put(&b->claims, key, (void *)(uintptr_t)bin->id);
	return true;
}

/*
 * Makes the id unique by the binary's number: for a large file whose hashed ends equal another's.
 */
static void number_id(struct binary *bin)
{
	unsigned char digest[SHA1_DIGEST_SIZE];
	struct sha1_ctx sha;

	sha1_init(&sha);
	sha1_update(&sha, strlen(bin->image.build_id), (const uint8_t *)bin->image.build_id);
	sha1_update(&sha, sizeof(bin->id), (const uint8_t *)&bin->id);
	sha1_digest(&sha, sizeof(digest), digest);
	image_id_of_digest(bin->image.build_id, digest);
}

static void tell(struct binaries *b, const struct binary *bin, const char *id, uint32_t owner)
{
	const struct binary *other = binaries__get(b, owner);

	message_verbose("%s: content differs from %s with the same build-id %s: recorded as %s",
			bin->path, other ? other->path : "another file", id, bin->image.build_id);
	if (!b->shared_ids++)
		message_warn("%s has the build-id of another file with different content; such "
			     "files are identified by their content",
			     bin->path);
}

void binaries_settle_id(struct binaries *b, struct binary *bin)
{
	char id[IMAGE_ID_CAP];
	uint32_t owner, first;

	if (!bin->image.build_id[0] && bin->fd >= 0)
		binaries_read_content(b, NULL, bin, NULL, bin->image.build_id);
	if (!bin->image.build_id[0] || claim(b, bin, &first))
		return;
	strcpy(id, bin->image.build_id);
	if (!bin->has_build_id || bin->fd < 0 ||
	    binaries_read_content(b, NULL, bin, NULL, bin->image.build_id) ||
	    !claim(b, bin, &owner)) {
		number_id(bin);
		claim(b, bin, &owner);
	}
	tell(b, bin, id, first);
}
