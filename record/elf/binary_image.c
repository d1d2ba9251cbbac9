/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <nettle/sha1.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/base/idmap.h"
#include "record/elf/binary_image.h"
#include "record/elf/elf_open.h"

#define NOTES_MAX_SZ (64u << 10)
#define HASH_ENDS_SZ (IMAGE_ID_WHOLE_SZ / 2)

static void hex(char *to, const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		*to++ = "0123456789abcdef"[p[i] >> 4];
		*to++ = "0123456789abcdef"[p[i] & 15];
	}
	*to = 0;
}

/* Searches `len` bytes of notes for the GNU build-id; gelf_getnote checks bounds. */
static void find_build_id(struct image *im, Elf *elf, uint64_t offset, uint64_t len, uint64_t align,
			  uint64_t *left)
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t at = 0, name, desc;

	if (im->build_id[0] || len > *left)
		return;
	*left -= len;
	data = elf_getdata_rawchunk(elf, offset, len, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const unsigned char *p = (const unsigned char *)data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(p + name, "GNU", 4) || note.n_descsz < 2 ||
		    note.n_descsz > (IMAGE_ID_CAP - 1) / 2)
			continue;
		hex(im->build_id, p + desc, note.n_descsz);
		return;
	}
}

static int add_load(struct image *im, const GElf_Phdr *ph)
{
	struct image_load *l = realloc(im->loads, (im->load_cnt + 1) * sizeof(*l));

	if (!l)
		return -ENOMEM;
	im->loads = l;
	l[im->load_cnt++] =
		(struct image_load){ph->p_offset, ph->p_filesz, ph->p_vaddr, ph->p_flags & PF_X};
	im->loads_hash = idmap_mix(im->loads_hash ^ ph->p_offset);
	im->loads_hash = idmap_mix(im->loads_hash ^ ph->p_filesz);
	im->loads_hash = idmap_mix(im->loads_hash ^ ph->p_vaddr);
	return 0;
}

static int read_segments(struct image *im, Elf *elf)
{
	uint64_t notes_left = NOTES_MAX_SZ; /* of all segments together, which may overlap */
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt))
		return -EBADMSG;
	if (cnt > 4096) /* the kernel accepts at most 64 KiB of program headers */
		return -EBADMSG;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr ph;
		int err = 0;

		if (!gelf_getphdr(elf, i, &ph))
			return -EBADMSG;
		if (ph.p_type == PT_LOAD)
			err = add_load(im, &ph);
		else if (ph.p_type == PT_NOTE)
			find_build_id(im, elf, ph.p_offset, ph.p_filesz, ph.p_align, &notes_left);
		if (err)
			return err;
	}
	return 0;
}

int image_read(struct image *im, int fd)
{
	GElf_Ehdr eh;
	Elf *elf;
	int err;

	*im = (struct image){0};
	elf = elf_open_headers(fd);
	if (!elf)
		return -ENOEXEC;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
	    (eh.e_type != ET_EXEC && eh.e_type != ET_DYN))
		err = -ENOEXEC;
	else
		err = read_segments(im, elf);
	if (!err && !im->load_cnt)
		err = -EBADMSG;
	elf_end(elf);
	if (err)
		image_fini(im);
	return err;
}

void image_fini(struct image *im)
{
	free(im->loads);
	im->loads = NULL;
	im->load_cnt = 0;
}

/* Compares pages: mmap(2) rounds both ends of a segment. */
static bool covers(const struct image_load *l, uint64_t offset, uint64_t page)
{
	uint64_t begin = l->offset & ~(page - 1), end = l->offset + l->file_sz;

	return end >= l->offset && offset >= begin && offset < ((end + page - 1) & ~(page - 1));
}

bool image_bias(const struct image *im, uint64_t start, uint64_t offset, uint64_t *bias)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	const struct image_load *best = NULL;

	/* A page shared by two segments is mapped for each; the executable segment that begins
	 * there is meant. */
	for (size_t i = 0; i < im->load_cnt; i++) {
		const struct image_load *l = &im->loads[i];

		if (!covers(l, offset, page))
			continue;
		if (!best || (l->exec && !best->exec) ||
		    (l->exec == best->exec && (l->offset & ~(page - 1)) == offset))
			best = l;
	}
	*bias = best ? start - offset + best->offset - best->address : start - offset;
	return best != NULL;
}

void image_id_of_digest(char id[IMAGE_ID_CAP], const unsigned char sha1[SHA1_DIGEST_SIZE])
{
	memcpy(id, "sha1:", 5);
	hex(id + 5, sha1, SHA1_DIGEST_SIZE);
}

int image_content_id(int fd, char id[IMAGE_ID_CAP])
{
	const size_t cap = 256u << 10;
	unsigned char digest[SHA1_DIGEST_SIZE], *buf = malloc(cap);
	struct sha1_ctx sha;
	off_t at = 0;
	struct stat st;
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	if (fstat(fd, &st)) {
		free(buf);
		return -errno;
	}
	sha1_init(&sha);
	while ((n = pread(fd, buf, cap, at)) > 0) {
		sha1_update(&sha, n, buf);
		at += n;
		if (at == HASH_ENDS_SZ && st.st_size > 2 * HASH_ENDS_SZ)
			at = st.st_size - HASH_ENDS_SZ;
	}
	free(buf);
	if (n < 0)
		return -errno;
	sha1_digest(&sha, sizeof(digest), digest);
	image_id_of_digest(id, digest);
	return 0;
}
