/* SPDX-License-Identifier: BSD-2-Clause */
#include <gelf.h>
#include <string.h>

#include "tls_go.h"
#include "unwind_go.h"

#define TABLE_MAX_SZ (256u << 20)

/* Before anything is read that other programs have as well. */
static bool is_go(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strstr(name, "gopclntab"))
			return sh.sh_type != SHT_NOBITS && sh.sh_size <= TABLE_MAX_SZ;
	}
	return false;
}

bool tls_go_find(Elf *elf, struct tls_go_function fn[TLS_GO_FUNCTIONS])
{
	struct unwind_image im;
	struct go_table table;
	int found = 0;

	fn[0] = (struct tls_go_function){"crypto/tls.(*Conn).Read", TLS_GO_READ, 0, 0};
	fn[1] = (struct tls_go_function){"crypto/tls.(*Conn).Write", TLS_GO_WRITE, 0, 0};
	if (!is_go(elf) || unwind_image__open(&im, elf))
		return false;
	go_table__open(&table, &im);
	for (uint64_t i = 0; table.version && i < table.nfunc && found < TLS_GO_FUNCTIONS; i++) {
		struct go_function f;

		if (!go_table__function(&table, i, &f) || strncmp(f.name, "crypto/tls", 10))
			continue;
		for (int j = 0; j < TLS_GO_FUNCTIONS; j++)
			if (!fn[j].end && !strcmp(f.name, fn[j].name) &&
			    f.end - f.start <= TLS_GO_MAX_SZ) {
				fn[j].start = f.start;
				fn[j].end = f.end;
				found++;
			}
	}
	return found == TLS_GO_FUNCTIONS;
}
