/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extracting symbols under --max-mem: what is foretold from the headers is what is taken at most,
 * and what does not fit is left out with its reason: DWARF first, then all.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "record/symbols/debuginfo_extract.h"
#include "record/symbols/slim.h"
#include "check.h"

enum { CONTENT = 40 << 20, WINDOW_LOG = 23, PACKER = 5 << 20, MIB = 1 << 20 };

/* ---- an ELF file of sections: symbols, and one of DWARF, compressed by zstd with a large window
 */

static const char names[] = "\0.shstrtab\0.strtab\0.symtab\0.debug_info";
enum { SHSTRTAB = 1, STRTAB, SYMTAB, DEBUG_INFO, SECTIONS };

static size_t put(int fd, const void *p, size_t len)
{
	size_t at = lseek(fd, 0, SEEK_CUR);

	assert(write(fd, p, len) == (ssize_t)len);
	return at;
}

static void fill(unsigned char *p, size_t len, unsigned mask)
{
	uint64_t x = 1;

	for (size_t i = 0; i < len; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		p[i] = (x >> 56) & mask;
	}
}

/* mask: of the content's bytes; how well it compresses. */
static int make(size_t content, unsigned mask)
{
	static const Elf64_Sym syms[2] = {{0}, {.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1}};
	Elf64_Ehdr eh = {.e_ident = ELFMAG,
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_ehsize = sizeof(eh),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = SECTIONS,
			 .e_shstrndx = SHSTRTAB};
	Elf64_Shdr sh[SECTIONS] = {{0}};
	Elf64_Chdr ch = {.ch_type = 2, .ch_size = content, .ch_addralign = 1};
	unsigned char *raw = malloc(content), *packed = malloc(ZSTD_compressBound(content));
	ZSTD_CCtx *z = ZSTD_createCCtx();
	int fd = memfd_create("elf", MFD_CLOEXEC);
	size_t sz;

	assert(raw && packed && z && fd >= 0);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	fill(raw, content, mask);
	ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, WINDOW_LOG);
	sz = ZSTD_compress2(z, packed, ZSTD_compressBound(content), raw, content);
	assert(!ZSTD_isError(sz));
	put(fd, &eh, sizeof(eh));
	sh[SHSTRTAB] = (Elf64_Shdr){1, SHT_STRTAB, .sh_offset = put(fd, names, sizeof(names)),
				    .sh_size = sizeof(names)};
	sh[STRTAB] = (Elf64_Shdr){11, SHT_STRTAB, .sh_offset = put(fd, "\0main", 6), .sh_size = 6};
	sh[SYMTAB] = (Elf64_Shdr){19,
				  SHT_SYMTAB,
				  .sh_offset = put(fd, syms, sizeof(syms)),
				  .sh_size = sizeof(syms),
				  .sh_link = STRTAB,
				  .sh_entsize = sizeof(*syms)};
	sh[DEBUG_INFO] =
		(Elf64_Shdr){27, SHT_PROGBITS, SHF_COMPRESSED,
			     .sh_offset = put(fd, &ch, sizeof(ch)), .sh_size = sizeof(ch) + sz};
	put(fd, packed, sz);
	eh.e_shoff = put(fd, sh, sizeof(sh));
	assert(pwrite(fd, &eh, sizeof(eh), 0) == sizeof(eh));
	free(raw);
	free(packed);
	ZSTD_freeCCtx(z);
	return fd;
}

static uint64_t foretold(int fd, bool dwarf)
{
	struct slim_elf e;
	uint64_t n;

	assert(!slim_elf__load(&e, fd));
	n = slim__memory(&e, NULL, dwarf, PACKER);
	slim_elf__fini(&e);
	return n;
}

/* ---- extracting in a process of its own, for its memory's sake */

struct outcome {
	char symbols[16], why[WHY_SZ];
	long kib; /* more than before */
};

static void extract(int fd, uint64_t mem_max, struct outcome *o)
{
	static const atomic_bool never;
	static const struct debuginfo_cache no_cache = {.fd = -1};
	struct extract_job job = {.id = "",
				  .path = "/nowhere",
				  .fd = fd,
				  .root_fd = -1,
				  .mode = DEBUGINFO_FULL,
				  .mem_max = mem_max,
				  .cache = &no_cache,
				  .cancel = &never};
	struct extract_alt alt;
	struct rusage before, after;
	struct slim_member m;

	getrusage(RUSAGE_SELF, &before);
	assert(!debuginfo_extract(&job, &m, &alt));
	getrusage(RUSAGE_SELF, &after);
	strcpy(o->symbols, m.symbols);
	strcpy(o->why, m.why);
	o->kib = after.ru_maxrss - before.ru_maxrss;
}

static struct outcome outcome_of(int fd, uint64_t mem_max)
{
	struct outcome o = {0};
	int pipe_fd[2], status;
	pid_t pid;

	assert(!pipe(pipe_fd));
	pid = fork();
	if (pid == 0) {
		extract(fd, mem_max, &o);
		_exit(write(pipe_fd[1], &o, sizeof(o)) != sizeof(o));
	}
	assert(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	assert(read(pipe_fd[0], &o, sizeof(o)) == sizeof(o));
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	return o;
}

static void expect(const struct outcome *o, const char *symbols, const char *why)
{
	CHECK(!strcmp(o->symbols, symbols) && !strcmp(o->why, why), "'%s' '%s', not '%s' '%s'",
	      o->symbols, o->why, symbols, why);
}

static void test_foretold(int fd)
{
	uint64_t dwarf = foretold(fd, true), symtab = foretold(fd, false);
	struct outcome o = outcome_of(fd, 0);

	expect(&o, "dwarf", "");
	CHECK(dwarf > symtab + (1 << WINDOW_LOG) && dwarf < symtab + CONTENT);
	o = outcome_of(fd, dwarf);
	expect(&o, "dwarf", "");
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
	CHECK((uint64_t)o.kib << 10 <= dwarf, "%ld KiB taken of %llu foretold", o.kib,
	      (unsigned long long)dwarf >> 10);
	printf("%d MiB of DWARF: %ld KiB taken, %llu foretold\n", CONTENT / MIB, o.kib,
	       (unsigned long long)dwarf >> 10);
#endif
	o = outcome_of(fd, dwarf - 1);
	expect(&o, "symtab", "DWARF exceeds the memory left by --max-mem; symtab only");
	o = outcome_of(fd, symtab);
	expect(&o, "symtab", "DWARF exceeds the memory left by --max-mem; symtab only");
	o = outcome_of(fd, symtab - 1);
	expect(&o, "none", "symbols exceed the memory left by --max-mem");
}

/* What comes out counts where the temporary files are in memory. */
static void test_output_in_memory(int fd)
{
	struct statfs fs;
	struct outcome o;

	if (statfs("/dev/shm", &fs) || fs.f_type != 0x01021994 /* TMPFS_MAGIC */)
		return;
	setenv("TMPDIR", "/dev/shm", 1);
	o = outcome_of(fd, foretold(fd, true) + 64 * MIB);
	expect(&o, "dwarf", "");
	o = outcome_of(fd, foretold(fd, true) + MIB);
	expect(&o, "symtab", "DWARF exceeds the memory left by --max-mem; symtab only");
	unsetenv("TMPDIR");
}

int main(void)
{
	int fd = make(CONTENT, 0x3f);

	test_foretold(fd);
	test_output_in_memory(fd);
	close(fd);
	return failed;
}
