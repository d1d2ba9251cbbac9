/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "bpf/probe/func.h"
#include "format/text.h"
#include "record/binary/func_pattern.h"
#include "record/probe/func_operand.h"
#include "check.h"

/* "int app::Server::handle<int>(std::vector<int, std::allocator<int> > const&)" */
#define HANDLE "_ZN3app6Server6handleIiEEiRKSt6vectorIT_SaIS3_EE"
/* "<std::sys::sync::mutex::futex::Mutex>::lock_contended" */
#define LOCK "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended"
#define RECV "_ZN3std4sync4mpmc4list16Channel$LT$T$GT$4recv17ha155d1c5a320627aE"

static const struct {
	const char *pattern, *symbol;
	bool matches;
} cases[] = {
	{"malloc", "malloc", true},
	{"malloc", "malloc_usable_size", false},
	{"mal*", "malloc", true},
	{"_ZN3app*", HANDLE, true},
	{"*handle*", HANDLE, true},
	{"app::Server::handle", HANDLE, true},
	{"app::Server::handle<int>", HANDLE, true},
	{"app::Server::handle<long>", HANDLE, false},
	{"app::Server::hand", HANDLE, false},
	{"app::*", HANDLE, true},
	{"app::Server::run(int)", "_ZN3app6Server3runEi", true},
	{"app::Server::run(long)", "_ZN3app6Server3runEi", false},
	{"v8::(anonymous namespace)::f", "_ZN2v812_GLOBAL__N_11fEv", true},
	{"*::handle", HANDLE, true},
	{"app::Server::[gh]andle", HANDLE, true},
	{"app::Server", HANDLE, false},
	{"std::vector*", HANDLE, false},
	{"app::Server::run", "_ZN3app6Server3runEi", true},
	{"app::Server::run", "_ZN3app6Server3runEv.isra.0", true},
	{"app::Server::run", "_ZN3app6Server4runsEv.isra.0", false},
	{"helper", "helper.constprop.0", true},
	{"helper", "helper.part.0.isra.1", true},
	{"helper", "helper.lto_priv.0", true},
	{"helper", "helper.cold", false},
	{"helper", "helper.c", false},
	{"hel*er", "helper.isra.0", true},
	{"evex", "_Z4evexi", true},
	{"evex", "_ZL4evexi", true},
	{"evex", "_Z4evexi.constprop.0", true},
	{"evex(int)", "_Z4evexi", true},
	{"evex(long)", "_Z4evexi", false},
	{"ev*", "_Z4evexi", true},
	{"vex", "_Z4evexi", false},
	{"evex", "_ZN3app4evexEi", false},
	{"evex", "_Z5evexxi", false},
	{"evex", "_Z99evex", false},
	{"dispatch(int, long)", "_Z8dispatchil", true},
	{"tmpl", "_Z4tmplIiET_S0_", true},
	{"tmpl<int>", "_Z4tmplIiET_S0_", true},
	{"tmpl<long>", "_Z4tmplIiET_S0_", false},
	{"operator<<", "_ZlsRN3app1TEi", true},
	{"app::Server::~Server", "_ZN3app6ServerD2Ev", true},
	{"app::T::operator<", "_ZN3app1TltERKS0_", true},
	{"app::T::operator<<", "_ZN3app1TlsEi", true},
	{"app::T::operator->", "_ZN3app1TptEv", true},
	{"std::vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi", true},
	{"std::sys::sync::mutex::futex::Mutex::lock_contended", LOCK, true},
	{"std::*::lock_contended", LOCK, true},
	{"*Mutex>::lock_contended", LOCK, true},
	{"std::sync::mpmc::list::Channel::recv", RECV, true},
	{"std::sync::mpmc::list::Channel<T>::recv", RECV, true},
	{"std::sync::mpsc::*::recv", RECV, false},
	{"a::b", "a::b", true},
	{"::", "_ZN3app6Server3runEi", false},
	{"*::*", "_ZN3app6Server3runEi", true},
	{"*::*", "_Z3runi", false},
	{"*::*", "_Z", false},
	{"*::*", "_RNv", false},
};

static const struct {
	const char *word, *binary, *symbol; /* NULL: an error */
	bool ret;
} operands[] = {
	{"libc:malloc", "libc", "malloc", false},
	{"libc:malloc:ret", "libc", "malloc", true},
	{"libc:ret", "libc", "ret", false},
	{"./a:app::Server::run", "./a", "app::Server::run", false},
	{"./a:app::Server::run:ret", "./a", "app::Server::run", true},
	{"./a:app::Server::ret", "./a", "app::Server::ret", false},
	{"./a:*::run", "./a", "*::run", false},
	{"./a:::run", NULL, NULL, false},
	{"./b:c/a:run", "./b:c/a", "run", false},
	{"app::run", NULL, NULL, false},
	{":run", NULL, NULL, false},
	{"run:", NULL, NULL, false},
	{"run", NULL, NULL, false},
	{"::", NULL, NULL, false},
	{":", NULL, NULL, false},
};

static const struct {
	const char *list;
	size_t len;
} words[] = {
	{"a,b", 1},
	{"", 0},
	{"a:f(int, long),b", 14},
	{"a:f(int (*)(int, int), long),b", 28},
	{"a:f(int,b", 7},
	{"a:std::map<int, int>::find,b", 26},
	{"a:f<std::map<int, int>, g>,b", 26},
	{"a:T::operator<,b:T::operator>", 14},
	{"a:T::operator<<,b:T::operator>>", 15},
	{"a:operator()(int, int),b", 22},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		CHECK(text_word_len(words[i].list) == words[i].len, "%s: %zu", words[i].list,
		      text_word_len(words[i].list));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct func_pattern p;

		func_pattern_init(&p, cases[i].pattern);
		CHECK(func_pattern_matches(&p, cases[i].symbol) == cases[i].matches, "%s, %s",
		      cases[i].pattern, cases[i].symbol);
	}
	for (size_t i = 0; i < sizeof(operands) / sizeof(*operands); i++) {
		struct func_operand o;
		const char *why = func_operand_parse(operands[i].word, &o);

		CHECK(!why == !!operands[i].binary, "%s: %s", operands[i].word, why ? why : "");
		if (why)
			continue;
		CHECK(!strcmp(o.binary, operands[i].binary) &&
			      !strcmp(o.symbol, operands[i].symbol),
		      "%s: %s, %s", operands[i].word, o.binary, o.symbol);
		CHECK(!!(o.wants & FUNC_UNTIMED) == operands[i].ret, "%s", operands[i].word);
	}
	return failed;
}
