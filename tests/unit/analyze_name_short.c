/* SPDX-License-Identifier: BSD-2-Clause */
/* Short names by table: text in, text out. */
#include <string.h>

#include "analyze/base/name_short.h"
#include "check.h"

#define STRING_ "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define STRING11_ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define STRINGL_                                                                                   \
	"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>"

static const struct {
	const char *name, *shorter; /* NULL: the same */
} rows[] = {
	/* nothing to do */
	{"main", NULL},
	{"a", NULL},
	{"_start", NULL},
	{"foo::bar::baz", NULL},
	{"foo(int, char const*)", NULL},
	{"~Foo", NULL},
	{"[libfoo.so]", NULL},
	{"[unknown]", NULL},
	{"[incomplete: no unwind information]", NULL},
	{"entry_SYSCALL_64_after_hwframe", NULL},

	/* strings and streams */
	{STRING_, "std::string"},
	{STRING11_, "std::string"},
	{STRINGL_, "std::string"},
	{"std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
	 "std::wstring"},
	{"std::basic_string<char16_t, std::char_traits<char16_t>, std::allocator<char16_t>>",
	 "std::u16string"},
	{"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
	{"std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
	 "<std::char_traits<char> >"
	 "(std::basic_ostream<char, std::char_traits<char> >&, char const*)",
	 "std::operator<< <std::char_traits<char>>(std::ostream&, char const*)"},
	{"std::__cxx11::basic_ostringstream<char, std::char_traits<char>, std::allocator<char> "
	 ">::str() "
	 "const",
	 "std::ostringstream::str() const"},
	{STRING11_ "::basic_string(" STRING11_ "&&)", "std::string::basic_string(std::string&&)"},
	{"std::basic_string<char, my::traits, std::allocator<char> >",
	 "std::basic_string<char, my::traits>"},
	{"std::basic_string<char, std::char_traits<char>, my::alloc<char> >",
	 "std::basic_string<char, std::char_traits<char>, my::alloc<char>>"},
	{"my::basic_string<char, std::char_traits<char>, std::allocator<char> >",
	 "my::basic_string<char, std::char_traits<char>, std::allocator<char>>"},

	/* containers: only what is the default is left out */
	{"std::vector<int, std::allocator<int> >::push_back(int const&)",
	 "std::vector<int>::push_back(int const&)"},
	{"std::vector<int, my::pool<int> >::size() const",
	 "std::vector<int, my::pool<int>>::size() const"},
	{"std::vector<int, std::allocator<long> >", "std::vector<int, std::allocator<long>>"},
	{"std::vector<" STRING11_ ", std::allocator<" STRING11_ " > >", "std::vector<std::string>"},
	{"std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, "
	 "std::allocator<int> > > >",
	 "std::vector<std::vector<int>>"},
	{"std::set<int, std::less<int>, std::allocator<int> >", "std::set<int>"},
	{"std::set<int, std::greater<int>, std::allocator<int> >",
	 "std::set<int, std::greater<int>>"},
	{"std::map<" STRING11_ ", int, std::less<" STRING11_
	 " >, std::allocator<std::pair<" STRING11_ " const, int> > >::operator[](" STRING11_
	 " const&)",
	 "std::map<std::string, int>::operator[](std::string const&)"},
	{"std::map<int, long, std::less<int>, std::allocator<std::pair<const int, long>>>",
	 "std::map<int, long>"},
	{"std::unordered_map<int, char*, std::hash<int>, std::equal_to<int>, "
	 "std::allocator<std::pair<int const, char*> > >::find(int const&)",
	 "std::unordered_map<int, char*>::find(int const&)"},
	{"std::unordered_map<int, char*, my_hash, std::equal_to<int>, "
	 "std::allocator<std::pair<int const, char*> > >",
	 "std::unordered_map<int, char*, my_hash>"},
	{"std::unordered_set<int, std::hash<int>, std::equal_to<int>, std::allocator<int> >",
	 "std::unordered_set<int>"},
	{"std::unique_ptr<Foo, std::default_delete<Foo> >::~unique_ptr()",
	 "std::unique_ptr<Foo>::~unique_ptr()"},
	{"std::unique_ptr<Foo, void (*)(Foo*)>", NULL},
	{"std::unique_ptr<char [], std::default_delete<char []> >", "std::unique_ptr<char []>"},
	{"std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >",
	 "std::priority_queue<int>"},
	{"std::queue<int, std::deque<int, std::allocator<int> > >", "std::queue<int>"},
	{"std::vector<(anonymous namespace)::P, std::allocator<(anonymous namespace)::P> >",
	 "std::vector<(anon)::P>"},
	{"std::vector", NULL},
	{"std::vector<>", NULL},

	/* scopes and marks of compilers */
	{"(anonymous namespace)::f(int)", "(anon)::f(int)"},
	{"feed::(anonymous namespace)::Hidden::~Hidden()", "feed::(anon)::Hidden::~Hidden()"},
	{"std::filesystem::__cxx11::path::path()", "std::filesystem::path::path()"},
	{"std::chrono::_V2::steady_clock::now()", "std::chrono::steady_clock::now()"},
	{"__cxx11::f()", NULL},
	{"foo[abi:cxx11](int)", "foo(int)"},
	{"ns::foo[abi:v1][abi:v2]::bar()", "ns::foo::bar()"},
	{"foo[abi:](int)", NULL},
	{"f() (.isra.0)", NULL},
	{"f(int) [clone .cold]", NULL},
	{"cfunc.isra.0", NULL},
	{"cfunc.constprop.0.cold", NULL},
	{"std::vector<int, std::allocator<int> >::f() (.part.0)",
	 "std::vector<int>::f() (.part.0)"},

	/* operators are no brackets */
	{"operator<(A, B)", NULL},
	{"A::operator<(A const&) const", NULL},
	{"operator<< <int>(A&, int)", NULL},
	{"operator<=>(A, A)", NULL},
	{"operator>>(A&, std::vector<int, std::allocator<int> >&)",
	 "operator>>(A&, std::vector<int>&)"},
	{"A::operator->() const", NULL},
	{"A::operator->*(int A::*)", NULL},
	{"A::operator()(int) const", NULL},
	{"A::operator()<char**, char**>", NULL},
	{"A::operator[](unsigned long)", NULL},
	{"operator new[](unsigned long)", NULL},
	{"operator delete(void*)", NULL},
	{"operator\"\" _s(char const*, unsigned long)", NULL},
	{"A::operator bool() const", NULL},
	{"A::operator " STRING11_ "() const", "A::operator std::string() const"},
	{"my_operator<int>()", NULL},
	{"bool std::operator< <int, std::allocator<int> >(std::vector<int, std::allocator<int> > "
	 "const&, "
	 "std::vector<int, std::allocator<int> > const&)",
	 "std::operator< <int, std::allocator<int>>(std::vector<int> const&, std::vector<int> "
	 "const&)"},

	/* lambdas, pointers to functions, expressions */
	{"main::{lambda}::operator()", NULL},
	{"main::{lambda(int)#1}::operator()(int) const", NULL},
	{"main::{lambda(" STRING11_ " const&)#2}::operator()(" STRING11_ " const&) const",
	 "main::{lambda(std::string const&)#2}::operator()(std::string const&) const"},
	{"main::$_0::operator()(int) const", NULL},
	{"main::'lambda'(int)::operator()(int) const", NULL},
	{"twice<main(int, char**)::<lambda(int)> >", "twice<main(int, char**)::<lambda(int)>>"},
	{"void (*get<int>(int))(char)", NULL},
	{"f(void (*)(int), int (&) [3])", NULL},
	{"decltype ((fp)()) call<int (*)()>(int (*)())", "call<int (*)()>(int (*)())"},
	{"decltype(auto) call<int>(int)", "call<int>(int)"},
	{"std::enable_if<((sizeof (int))<(4))&&((1)>(0)), int>::type f<int>(int)", "f<int>(int)"},
	{"g<(Color)1>()", NULL},
	{"h<&(A::f(int))>()", NULL},

	/* return types */
	{"void f<int>(int)", "f<int>(int)"},
	{"int twice<main::$_0>(main::$_0)", "twice<main::$_0>(main::$_0)"},
	{"unsigned long std::max<unsigned long>(unsigned long)",
	 "std::max<unsigned long>(unsigned long)"},
	{"non-virtual thunk to A::f()", NULL},
	{"vtable for A", NULL},
	{"guard variable for f()::x", NULL},
	{"virtual thunk to A<int>::f<int>(int)", NULL},

	/* what is long */
	{"ns::call<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>(int, "
	 "cccccccccccccccccccccccccccccccccccccccc, ddddddddddddddddddddddd) const",
	 "ns::call<...>(...) const"},
	{"ns::call<Wrapper<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb> "
	 ">(Wrapper<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>&) const",
	 "ns::call<Wrapper<...>>(Wrapper<...>&) const"},
	{"ns::aaaaaaaaaaaaaaaaaaaaaaaa(bbbbbbbbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccc, "
	 "ddddd)::{lambda(eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee)#1}::operator()(int) "
	 "const",
	 "ns::aaaaaaaaaaaaaaaaaaaaaaaa(...)::{lambda(...)#1}::operator()(int) const"},

	/* Rust */
	{"core::fmt::write::h01dd8abc4cb8cd39", "core::fmt::write"},
	{"core::fmt::write::h01dd8abc4cb8cd3", NULL},
	{"core::fmt::write::h01DD8ABC4CB8CD39", NULL},
	{"::h01dd8abc4cb8cd39", NULL},
	{"mycrate[a1b2c3d4e5f60718]::foo::bar", "mycrate::foo::bar"},
	{"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", NULL},
	{"main::main::{{closure}}", NULL},
	{"feed::{impl#1}::go::{closure#0}", NULL},
	{"_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$::drop::h01dd8abc4cb8cd39",
	 "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
	{"core::ptr::drop_in_place$LT$$RF$str$GT$::h01dd8abc4cb8cd39",
	 "core::ptr::drop_in_place<&str>"},

	/* of others */
	{"main.(*Server).Serve", NULL},
	{"github.com/x/y.Map[go.shape.int_0,go.shape.string_1]", NULL},
	{"runtime.mallocgc", NULL},
	{"Ljava/lang/String;::hashCode", NULL},
	{"int java.lang.StringLatin1.hashCode(byte[])", NULL},
	{"java.util.Map<java.util.List<int > >", NULL},
	{"LazyCompile:*onRequest /srv/app.js:12:3", NULL},
	{"py::handler:/srv/app.py", NULL},

	/* what is no name at all */
	{"f<int", NULL},
	{"f<int)", NULL},
	{"f)int(", NULL},
	{">", NULL},
	{"<", NULL},
	{"((((", NULL},
	{" ", NULL},
	{"operator", NULL},
	{"operator<<int>(A)", NULL},
};

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *expected = rows[i].shorter ? rows[i].shorter : rows[i].name;
		struct strbuf b = {0};

		name_short(&b, span_of(rows[i].name));
		CHECK(b.len == strlen(expected) && !memcmp(b.p, expected, b.len),
		      "%s\n  is       %.*s\n  expected %s", rows[i].name, (int)b.len, b.p,
		      expected);
		strbuf_fini(&b);
	}
}

/* It is a name of its own: what is short already stays, and what was there before is kept. */
static void test_again(void)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *expected = rows[i].shorter ? rows[i].shorter : rows[i].name;

		b.len = 0;
		strbuf_addf(&b, "before ");
		name_short(&b, span_of(expected));
		CHECK(b.len == 7 + strlen(expected) && !memcmp(b.p + 7, expected, b.len - 7) &&
			      !memcmp(b.p, "before ", 7),
		      "%s: %.*s", expected, (int)b.len, b.p);
	}
	strbuf_fini(&b);
}

/* Nested deeper, or longer, than is looked into: as it is. */
static void test_bounds(void)
{
	static char deep[4096], large[200000];
	struct strbuf b = {0};

	memset(deep, '<', 2000);
	memset(deep + 2000, '>', 2000);
	name_short(&b, span_of(deep));
	CHECK(b.len == 4000 && !memcmp(b.p, deep, 4000), "%zu", b.len);
	b.len = 0;
	memset(large, 'x', sizeof(large) - 1);
	memcpy(large, "f[abi:x]", 8);
	name_short(&b, span_of(large));
	CHECK(b.len == sizeof(large) - 1, "%zu", b.len);
	b.len = 0;
	name_short(&b, (struct span){"", 0});
	CHECK(!b.len, "%zu", b.len);
	strbuf_fini(&b);
}

int main(void)
{
	test_rows();
	test_again();
	test_bounds();
	return failed;
}
