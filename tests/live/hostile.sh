# Programs whose mapped files are not what they seem: truncated, patched, deleted, replaced by a FIFO or a device. obrec goes
# on, says what it could not have, and ends in order.
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a C compiler"
cat >"$T/lib.c" <<'C'
static volatile unsigned long n;
void work(void) { for (int i = 0; i < 3000000; i++) n++; }
C
cat >"$T/main.c" <<'C'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
/* LIB HOW: maps LIB's code itself, then does to the file what HOW says, and runs */
int main(int argc, char **argv)
{
	char *lib = argv[1], *how = argv[2];
	void (*work)(void);
	struct stat st;
	void *h;
	int fd;

	h = dlopen(lib, RTLD_NOW);
	if (!h || !(work = (void (*)(void))dlsym(h, "work")))
		return 1;
	fd = open(lib, O_RDWR);
	if (!strcmp(how, "section-offset") || !strcmp(how, "eh-frame") || !strcmp(how, "phnum")) {
		fstat(fd, &st);
		unsigned char *p = malloc(st.st_size);
		if (pread(fd, p, st.st_size, 0) != st.st_size) return 2;
		/* a copy in its place: the mapped one must not change under the process */
		unlink(lib);
		fd = open(lib, O_CREAT | O_RDWR, 0755);
		if (how[0] == 's') memset(p + 40, 0xff, 8); /* e_shoff */
		if (how[0] == 'p') memset(p + 56, 0xff, 2); /* e_phnum */
		if (how[0] == 'e') for (long i = st.st_size / 2; i < st.st_size; i++) p[i] ^= 0x5a;
		if (write(fd, p, st.st_size) != st.st_size) return 3;
		dlclose(h);
		void *m = mmap(NULL, 4096 * 8, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		(void)m;
		/* code of this name runs from a mapping of a file that was damaged */
		static unsigned char loop[] = {0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3}; /* dec rax; jne; ret */
		if (pwrite(fd, loop, sizeof(loop), 4096) != sizeof(loop)) return 4;
		munmap(m, 4096 * 8);
		m = mmap(NULL, 4096 * 8, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		work = (void (*)(void))((char *)m + 4096);
		for (;;) {
			unsigned long a = 3000000;
			__asm__ volatile("call *%1" : "+a"(a) : "r"(work) : "memory", "cc");
		}
	}
	if (!strcmp(how, "delete")) unlink(lib);
	if (!strcmp(how, "fifo")) { unlink(lib); mkfifo(lib, 0600); }
	if (!strcmp(how, "device")) { unlink(lib); if (symlink("/dev/zero", lib)) return 5; }
	if (!strcmp(how, "truncate")) { unlink(lib); truncate(lib, 0); fd = open(lib, O_CREAT | O_WRONLY, 0755); }
	for (;;)
		work();
}
C
cc -O2 -o "$T/main" "$T/main.c" -ldl
for how in delete fifo device truncate section-offset eh-frame phnum; do
	cc -O2 -shared -fPIC -o "$T/lib-$how.so" "$T/lib.c"
	start "$T/main" "$T/lib-$how.so" $how
	p=$!
	worked 5 $p # it has done it by then
	capture 40 $p -F 499 -o "$T/$how.obz"
	is "$how: lines" "$(wc -l <"$T/obrec.err")" 1
	status=0; "$OBANA" report "$T/$how.obz" >"$T/out" 2>"$T/err" || status=$?
	is "$how: report's exit" $status 0
	within "$how: samples" "$(sql "$T/$how.obz" "SELECT sum(count) FROM sample")" 100 1000
	is "$how: the binary and why it has no symbols" "$(sql "$T/$how.obz" "SELECT count(*) FROM binary WHERE path LIKE '%lib-$how.so%' AND (symbols <> 'none' OR why <> '')")" 1
	kill $p
done
