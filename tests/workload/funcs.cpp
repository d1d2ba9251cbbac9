// SPDX-License-Identifier: BSD-2-Clause
// A known number of calls of functions that return, throw, jump, end in others or never end, for
// the tests of the probe func: funcs COUNT [plain]. `plain`: nothing that skips returns. Waits for
// a byte on stdin. Writes for each function: name, calls that return, those that do not, and the
// least and the most time that they took together, by clocks read within the function and around
// its calls.
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

struct known {
	uint64_t calls, unfinished, least_ns, most_ns;
};
static std::map<std::string, known> all;
static volatile uint64_t sink;

#define FN extern "C" __attribute__((noinline, noclone, used))

static uint64_t now_ns()
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

// Calls fn, and accounts the time to `name`; `inner` is what the function itself measured.
static uint64_t inner;
template <typename F> static void call(const char *name, F fn)
{
	uint64_t from = now_ns();

	inner = 0;
	fn();
	all[name].most_ns += now_ns() - from;
	all[name].least_ns += inner;
	all[name].calls++;
}

FN void fn_nap(long ns)
{
	uint64_t from = now_ns();
	struct timespec ts = {0, ns};

	nanosleep(&ts, nullptr);
	inner = now_ns() - from;
	sink++;
}

FN void fn_spin(uint64_t ns)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ns)
		sink++;
	inner = now_ns() - from;
}

FN int fn_recurse(int depth)
{
	int more = depth > 1 ? fn_recurse(depth - 1) : 0;

	sink++;
	return more + 1;
}

FN int fn_odd(int n);
FN int fn_even(int n)
{
	int r = n ? fn_odd(n - 1) : 1;

	sink++;
	return r;
}
FN int fn_odd(int n)
{
	int r = n ? fn_even(n - 1) : 0;

	sink++;
	return r;
}

FN int fn_tail_end(int n)
{
	sink = sink + n;
	return sink;
}
FN int fn_tail(int n)
{
	sink++;
	return fn_tail_end(n + 1);
}

FN int fn_switch(int n)
{
	switch (n % 8) {
	case 0:
		sink = 3;
		return 7;
	case 1:
		sink += 9;
		return sink / 3;
	case 2:
		getppid();
		return 1;
	case 3:
		sink *= 5;
		return sink;
	case 4:
		sink = getppid();
		return 9;
	case 5:
		sink ^= 3;
		return 4;
	case 6:
		sink--;
		return 12;
	default:
		return sink + 2;
	}
}

static jmp_buf there;
FN void fn_jump(int depth)
{
	if (!depth)
		longjmp(there, 1);
	fn_jump(depth - 1);
	sink++;
}

FN void fn_throw()
{
	sink++;
	throw std::runtime_error("thrown");
}
FN void fn_through(int depth)
{
	if (depth)
		fn_through(depth - 1);
	else
		fn_throw();
	sink++;
}
FN void fn_catch()
{
	try {
		fn_through(2);
	} catch (std::exception &e) {
		sink++;
	}
}

FN void *fn_leave(void *arg)
{
	pthread_exit(arg);
}

FN void fn_child()
{
	sink++;
}

FN void fn_many_0()
{
	sink = 1;
}
FN void fn_many_1()
{
	sink += 2;
}
FN void fn_many_2()
{
	sink ^= 4;
}
FN void fn_many_3()
{
	sink *= 8;
}

static void skip_returns(int count)
{
	for (int i = 0; i < count; i++) {
		pthread_t t;

		if (!setjmp(there))
			fn_jump(3);
		all["fn_jump"].unfinished += 4;
		fn_catch();
		all["fn_catch"].calls++;
		all["fn_through"].unfinished += 3;
		all["fn_throw"].unfinished++;
		pthread_create(&t, nullptr, fn_leave, nullptr);
		pthread_join(t, nullptr);
		all["fn_leave"].unfinished++;
	}
}

static void child(int count)
{
	if (!fork()) {
		for (int i = 0; i < count; i++)
			fn_child();
		_exit(0);
	}
	wait(nullptr);
	all["fn_child"].calls += count;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	void (*const many[])() = {fn_many_0, fn_many_1, fn_many_2, fn_many_3};
	char go;

	if (read(0, &go, 1) != 1)
		return 1;
	for (int i = 0; i < count; i++) {
		call("fn_nap", [] { fn_nap(1000000); });
		call("fn_spin", [] { fn_spin(200000); });
		call("fn_recurse", [] { fn_recurse(30); });
		all["fn_recurse"].calls += 29;
		call("fn_even", [] { fn_even(9); });
		all["fn_even"].calls += 4;
		all["fn_odd"].calls += 5;
		call("fn_tail", [] { fn_tail(1); });
		all["fn_tail_end"].calls++;
		for (int n = 0; n < 8; n++)
			call("fn_switch", [n] { fn_switch(n); });
		for (int n = 0; n < 4; n++)
			call((std::string("fn_many_") + std::to_string(n)).c_str(),
			     [&many, n] { many[n](); });
	}
	call("fn_nap", [] { fn_nap(30000000); });
	child(count);
	if (argc < 3 || strcmp(argv[2], "plain")) {
		skip_returns(count);
		fn_recurse(140);
		all["fn_recurse"].calls += 128;
		all["fn_recurse"].unfinished += 12;
		// `most` and `least` are of the outermost calls only
	}
	for (const auto &f : all)
		printf("%s %lu %lu %lu %lu\n", f.first.c_str(), f.second.calls, f.second.unfinished,
		       f.second.least_ns, f.second.most_ns);
	return 0;
}
