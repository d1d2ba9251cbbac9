/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/slim_mini.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/temp_file.h"
#include "record/symbols/slim_part.h"

#define MAX_MINI_SZ (32u << 20)
#define BLOCK_SZ (64u << 10)
#define MAX_SECTIONS 256 /* each is searched in the binary; real ones have about thirty */
#define MAX_NAME_LEN 255

static int write_all(int fd, const unsigned char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n, len -= n;
	}
	return 0;
}

static int unpack(lzma_stream *z, const struct slim_elf *e, const Elf64_Shdr *h, int fd,
		  unsigned char *buf)
{
	uint64_t off = h->sh_offset, left = h->sh_size;
	lzma_ret rc = LZMA_OK;
	int err = 0;

	while (rc != LZMA_STREAM_END) {
		size_t len = left < BLOCK_SZ ? left : BLOCK_SZ;

		if (!z->avail_in) {
			err = slim_elf_read(e, off, buf, len);
			if (err)
				return err;
			z->next_in = buf, z->avail_in = len;
			off += len, left -= len;
		}
		z->next_out = buf + BLOCK_SZ, z->avail_out = BLOCK_SZ;
		rc = lzma_code(z, left ? LZMA_RUN : LZMA_FINISH);
		if ((rc != LZMA_OK && rc != LZMA_STREAM_END) || z->total_out > MAX_MINI_SZ)
			return rc == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
		err = write_all(fd, buf + BLOCK_SZ, BLOCK_SZ - z->avail_out);
		if (err)
			return err;
	}
	return 0;
}

static int unpack_to_memfd(const struct slim_elf *e, size_t section)
{
	lzma_stream z = LZMA_STREAM_INIT;
	unsigned char *buf = malloc(2 * BLOCK_SZ);
	int fd = temp_file(), err = -ENOMEM;

	if (buf && fd >= 0 &&
	    lzma_stream_decoder(&z, SLIM_MINI_MEMORY - 2 * BLOCK_SZ, 0) == LZMA_OK)
		err = unpack(&z, e, &e->shdrs[section], fd, buf);
	lzma_end(&z);
	free(buf);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Maps section numbers of the mini ELF to those of the binary: objcopy renumbers sections. */
static uint16_t *number_map(const struct slim_elf *mini, const struct slim_elf *binary)
{
	uint16_t *map = calloc(mini->shdr_cnt, sizeof(*map));

	for (size_t i = 1; map && i < mini->shdr_cnt; i++) {
		const char *name = slim_elf_name(mini, i);
		size_t at = strnlen(name, MAX_NAME_LEN + 1) <= MAX_NAME_LEN
				    ? slim_elf_find(binary, name)
				    : 0;

		if (at && binary->shdrs[at].sh_addr == mini->shdrs[i].sh_addr)
			map[i] = at;
	}
	return map;
}

/* A section missing in the binary becomes SHN_ABS, so that the symbol stays defined. */
static uint16_t renumbered(const uint16_t *map, size_t cnt, uint16_t shndx)
{
	if (shndx == SHN_UNDEF || shndx >= SHN_LORESERVE)
		return shndx;
	return shndx < cnt && map[shndx] ? map[shndx] : SHN_ABS;
}

static int renumber_block(const struct slim_elf *mini, const uint16_t *map, unsigned char *block,
			  uint64_t off, size_t len)
{
	const size_t entry = mini->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	size_t at = mini->is32 ? offsetof(Elf32_Sym, st_shndx) : offsetof(Elf64_Sym, st_shndx);
	int err = slim_elf_read(mini, off, block, len);

	for (; !err && at + sizeof(uint16_t) <= len; at += entry) {
		uint16_t shndx;

		memcpy(&shndx, block + at, sizeof(shndx));
		shndx = renumbered(map, mini->shdr_cnt, shndx);
		memcpy(block + at, &shndx, sizeof(shndx));
	}
	if (!err && pwrite(mini->fd, block, len, off) != (ssize_t)len)
		err = -EIO;
	return err;
}

static int renumber(const struct slim_elf *mini, const struct slim_elf *binary)
{
	const size_t block_sz = BLOCK_SZ / 48 * 48; /* whole symbols of either class */
	size_t symtab = slim_elf_find_type(mini, SHT_SYMTAB);
	unsigned char *block;
	uint16_t *map;
	uint64_t sz;
	int err;

	if (!slim_elf_has_bytes(mini, symtab))
		return -ENOENT;
	sz = mini->shdrs[symtab].sh_size;
	map = number_map(mini, binary);
	block = malloc(block_sz);
	err = map && block ? 0 : -ENOMEM;
	for (uint64_t off = 0; !err && off < sz; off += block_sz)
		err = renumber_block(mini, map, block, mini->shdrs[symtab].sh_offset + off,
				     sz - off < block_sz ? sz - off : block_sz);
	free(block);
	free(map);
	return err;
}

int slim_mini__open(struct slim_elf *mini, const struct slim_elf *binary)
{
	size_t section = slim_elf_find(binary, ".gnu_debugdata");
	int fd, err;

	if (!slim_elf_has_bytes(binary, section))
		return -ENOENT;
	fd = unpack_to_memfd(binary, section);
	if (fd < 0)
		return fd;
	err = slim_elf__load(mini, fd);
	if (!err && (mini->is32 != binary->is32 || mini->shdr_cnt > MAX_SECTIONS))
		err = -EBADMSG;
	err = err ? err : renumber(mini, binary);
	if (err) {
		slim_elf__fini(mini);
		close(fd);
	}
	return err;
}
