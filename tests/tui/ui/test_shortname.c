/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names where there is not room for all of them: what goes first, that the end stays, and that no
 * name of any length is wider than its room.
 * Covers: tui/ui/shortname.c tui/ui/shortname.h
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/screen/grid.h"
#include "tui/profile/profile.h"
#include "tui/ui/shortname.h"

static const struct {
	const char *name;
	int cells;
	const char *shown;
} examples[] = {
	{"copy_folio_from_iter_atomic", 27, "copy_folio_from_iter_atomic"},
	{"copy_folio_from_iter_atomic", 18, "copy_folio_from_i…"},
	{"v8::internal::LookupKey<v8::String>", 35, "v8::internal::LookupKey<v8::String>"},
	{"v8::internal::LookupKey<v8::String>", 34, "v8::internal::LookupKey<…>"},
	{"v8::internal::LookupKey<v8::String>", 25, "v8::…::LookupKey<…>"},
	{"v8::internal::LookupKey<v8::String>", 15, "…::LookupKey<…>"},
	{"v8::internal::LookupKey<v8::String>", 12, "LookupKey<…>"},
	{"v8::internal::LookupKey<v8::String>", 11, "LookupKey"},
	{"v8::internal::LookupKey<v8::String>", 6, "…upKey"},
	{"v8::internal::LookupKey<v8::String>", 1, "…"},
	{"std::map<int, std::vector<int> >::find", 37, "std::map<…>::find"},
	{"std::map<int, std::vector<int> >::find", 30, "std::map<…>::find"},
	{"void ns::each<int>(int*, int*)", 29, "void ns::each<int>(…)"},
	{"void ns::each<int>(int*, int*)", 22, "void ns::each<int>(…)"},
	{"void ns::each<int>(int*, int*)", 13, "ns::each<int>"},
	{"a::b::operator<< <char>(std::ostream&)", 20, "a::b::operator<< <…>"},
	{"a::deep::inside::B::operator<(a::B const&) const", 22, "a::…::B::operator<"},
	{"a::deep::inside::B::operator->() const", 22, "a::…::B::operator->"},
	{"a::deep::inside::B::operator()(int) const", 22, "a::…::B::operator()"},
	{"a::deep::inside::B::operator new(unsigned long)", 26, "a::…::B::operator new"},
	{"a::deep::inside::B::operator std::string() const", 32, "a::…::B::operator std::string"},
	{"(anonymous namespace)::deep::run(int, char const*)", 32,
	 "(anonymous namespace)::deep::run"},
	{"(anonymous namespace)::deep::run(int, char const*)", 12, "…::deep::run"},
	{"app::Loop::run(int)::{lambda(char const*)#1}::operator()(char const*) const", 50,
	 "app::Loop::run(int)::{lambda(…)#1}::operator()"},
	{"tokio::runtime::task::harness::Harness<T,S>::poll::{closure#0}", 40,
	 "tokio::…::poll::{closure#0}"},
	{"tokio::runtime::task::harness::Harness<T,S>::poll::{{closure}}", 34,
	 "tokio::…::poll::{{closure}}"},
	{"<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", 44, "<…>::fmt"},
	{"<alloc::vec::Vec<alloc::string::String> as core::fmt::Debug>::fmt", 50,
	 "<alloc::vec::Vec<…> as core::fmt::Debug>::fmt"},
	{"<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", 20, "<…>::fmt"},
	{"-[NSString initWithFormat:arguments:]", 20, "-[NSString initWith…"},
	{"main.(*Server).ServeHTTP", 20, "main.(*Server).Serv…"},
	{"rayon_core::job::StackJob<fn() -> Option<u8>>::execute", 40,
	 "rayon_core::job::StackJob<…>::execute"},
	{"a->b", 3, "a-…"},
	{"x<y", 2, "x…"},
	{"naïve::größer::öffne", 12, "…::öffne"},
	{"", 0, ""},
};

static struct grid *grid;

static const char *shown(const char *name, int cells)
{
	static char text[SHORTNAME_MAX];

	shortname_fit(grid, name, cells, text, sizeof(text));
	return text;
}

static void what_goes_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		assert_string_equal(shown(examples[i].name, examples[i].cells), examples[i].shown);
}

static void ascii_has_its_own_ellipsis(void **state)
{
	(void)state;
	grid->ascii = true;
	assert_string_equal(shown("v8::internal::LookupKey<v8::String>", 25),
			    "v8::~::LookupKey<~>");
	assert_string_equal(shown("v8::internal::LookupKey<v8::String>", 6), "~upKey");
	grid->ascii = false;
}

/* As libstdc++, LLVM, V8, Chromium and rustc have them. */
static const char *const real[] = {
	"std::basic_ostream<char, std::char_traits<char> >& std::operator<< <char, "
	"std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, "
	"std::_Put_money<std::__cxx11::basic_string<char> >)",
	"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::"
	"_M_replace_aux(unsigned long, unsigned long, unsigned long, char)",
	"std::function<void (std::unique_ptr<int>, int (*)(char const*))>::operator()"
	"(std::unique_ptr<int>, int (*)(char const*)) const",
	"void std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, long, "
	"__gnu_cxx::__ops::_Iter_comp_iter<main::{lambda(int, int)#1}> >"
	"(__gnu_cxx::__normal_iterator<int*, std::vector<int> >)",
	"llvm::detail::DenseSetImpl<llvm::StringRef, llvm::DenseMap<llvm::StringRef, "
	"llvm::detail::DenseSetEmpty> >::insert[abi:cxx11](llvm::StringRef const&)",
	"non-virtual thunk to llvm::(anonymous namespace)::Pass::run(llvm::Module&)",
	"v8::internal::(anonymous namespace)::ElementsAccessorBase<v8::internal::"
	"FastPackedSmiElementsAccessor, v8::internal::ElementsKindTraits<(v8::internal::"
	"ElementsKind)0> >::Set(v8::internal::Handle<v8::internal::JSObject>) [clone .cold]",
	"std::bitset<(1ul>>3)>::operator>>(unsigned long) const",
	"decltype (std::declval<int>().value) ns::get<int>(int&&)",
	"core::ops::function::FnOnce::call_once{{vtable.shim}}",
	"<hashbrown::map::HashMap<K,V,S> as core::iter::traits::collect::Extend<(K,V)>>::extend",
	"<dyn core::any::Any + core::marker::Send>::downcast_ref::<alloc::string::String>",
	"rayon_core::job::StackJob<L,F,R>::execute::<fn() -> core::option::Option<u8>>",
	"std::sys::backtrace::__rust_begin_short_backtrace::<app::main::{closure#0}, ()>",
	"größe::raum<größe::wert<ä>>::öffne(größe::wert<ä>)",
	"日本::関数<日本::型>::呼ぶ",
};

/* Cut anywhere and with other bytes, it is a name all the same. */
static void spoil(char *name, uint32_t *random)
{
	static const char bytes[] = "<>()[]{}:: -*&,~=x";
	size_t length = strlen(name);

	for (int i = 0; i < 3 && length; i++) {
		*random = *random * 1103515245 + 12345;
		name[(*random >> 8) % length] = bytes[(*random >> 4) % (sizeof(bytes) - 1)];
	}
	*random = *random * 1103515245 + 12345;
	if (length && *random & 0x1000)
		name[(*random >> 16) % length] = '\0';
}

static void no_name_is_wider_than_its_room(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		char name[600];

		snprintf(name, sizeof(name), "%s", real[i % (sizeof(real) / sizeof(real[0]))]);
		if (i >= sizeof(real) / sizeof(real[0]))
			spoil(name, &random);
		for (int cells = 0; cells < 90; cells += 1 + (int)(i % 7))
			assert_true(grid_width(grid, shown(name, cells)) <= cells);
	}
}

/* Broken UTF-8 would stand as `?`. */
static void characters_stay_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
		for (int cells = 1; cells < 90; cells++) {
			char *text;

			grid_clear(grid);
			shortname_draw(grid, 0, 0, cells, ROLE_TEXT, real[i]);
			text = grid_text(grid);
			assert_non_null(text);
			assert_null(strchr(text, '?'));
			free(text);
		}
}

static void the_end_stays(void **state)
{
	static const struct {
		size_t at;
		const char *end;
	} ends[] = {{1, "_M_replace_aux"},
		    {4, "insert[abi:cxx11]"},
		    {5, "run"},
		    {6, "Set"},
		    {10, "extend"},
		    {15, "呼ぶ"}};

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		for (int cells = grid_width(grid, ends[i].end); cells < 60; cells++)
			assert_non_null(strstr(shown(real[ends[i].at], cells), ends[i].end));
}

static void a_long_name_is_cut(void **state)
{
	char name[4096];

	(void)state;
	memset(name, '<', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(grid_width(grid, shown(name, 40)), 40);
	name[1000] = '\0';
	assert_int_equal(grid_width(grid, shown(name, 40)), 40);
}

/* By hand: a part with its separator stands behind the ellipsis if it fits. */
static void languages_keep_their_end(void **state)
{
	static const struct {
		enum func_kind kind;
		const char *name;
		int cells;
		const char *shown;
	} cases[] = {
		{FUNC_PYTHON, "outer.<locals>.inner", 20, "outer.<locals>.inner"},
		{FUNC_PYTHON, "outer.<locals>.inner", 19, "….<locals>.inner"},
		{FUNC_PYTHON, "outer.<locals>.inner", 15, "….inner"},
		{FUNC_PYTHON, "outer.<locals>.inner", 7, "….inner"},
		{FUNC_PYTHON, "outer.<locals>.inner", 5, "…nner"},
		{FUNC_PYTHON, "<module>", 8, "<module>"},
		{FUNC_PYTHON, "<module>", 5, "…ule>"},
		{FUNC_PYTHON, "Thing.<lambda>", 12, "….<lambda>"},
		{FUNC_PYTHON, "Größe.berechne_größe", 18, "….berechne_größe"},
		{FUNC_PYTHON, "类.方法", 7, "类.方法"},
		{FUNC_PYTHON, "类.方法", 6, "….方法"},
		{FUNC_PYTHON, "类.方法", 4, "…法"},
		{FUNC_PHP, "App\\Http\\Kernel::handle", 20, "…\\Kernel::handle"},
		{FUNC_RUBY, "Foo::Bar#baz", 6, "…#baz"},
		{FUNC_JAVA, "com.foo.Bar.baz", 10, "….Bar.baz"},
		{FUNC_JS, "f", 0, ""},
		{FUNC_USER, "copy_folio_from_iter_atomic", 18, "copy_folio_from_i…"},
		{FUNC_USER, "v8::internal::LookupKey<v8::String>", 25, "v8::…::LookupKey<…>"},
		{FUNC_END, "no table for pc", 14, "[unwind: no t…"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct profile_func func = {
			.name = cases[i].name, .module = "", .kind = cases[i].kind};
		char text[SHORTNAME_MAX];

		shortname_func(grid, &func, cases[i].cells, text, sizeof(text));
		assert_string_equal(text, cases[i].shown);
	}
}

static void paths_keep_their_end(void **state)
{
	char text[SHORTNAME_MAX];

	(void)state;
	shortname_path(grid, "/usr/lib/python3/json.py", 24, text, sizeof(text));
	assert_string_equal(text, "/usr/lib/python3/json.py");
	shortname_path(grid, "/usr/lib/python3/json.py", 23, text, sizeof(text));
	assert_string_equal(text, "…/lib/python3/json.py");
	shortname_path(grid, "/usr/lib/python3/json.py", 19, text, sizeof(text));
	assert_string_equal(text, "…/python3/json.py");
	shortname_path(grid, "/usr/lib/python3/json.py", 5, text, sizeof(text));
	assert_string_equal(text, "…n.py");
	shortname_path(grid, "libpython3.11.so.1.0", 10, text, sizeof(text));
	assert_string_equal(text, "libpython…");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_first),
		cmocka_unit_test(ascii_has_its_own_ellipsis),
		cmocka_unit_test(no_name_is_wider_than_its_room),
		cmocka_unit_test(characters_stay_whole),
		cmocka_unit_test(the_end_stays),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(languages_keep_their_end),
		cmocka_unit_test(paths_keep_their_end),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 1;
	grid = grid_new(1, 100);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
