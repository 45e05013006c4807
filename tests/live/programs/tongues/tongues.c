/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Python and Perl, and Ruby if its library is named, in one process: each calls functions of the
 * others, in chains that change every few microseconds. Prints the chains that there can be, and
 * goes on for ever.
 *
 *	tongues LIBRARY...	maps these before; what runs Ruby makes it take part
 *
 * Built by tests/live/test_tongues.py, with what Python and Perl say.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>

#include <dlfcn.h>
#include <stdio.h>

typedef unsigned long value;

static PerlInterpreter *my_perl;
static PyObject *globals;
static value (*rb_funcall)(value, unsigned long, int, ...);
static unsigned long (*rb_intern)(const char *);
static char *(*rb_string)(volatile value *);
static value (*rb_protect)(value (*)(value), value, int *);

static const char in_perl[] =
	"sub pl_leaf { my $s = 0; $s += $_ for 1 .. 60 }\n"
	"sub pl_inner { pl_leaf(); tongue('py_leaf') }\n"
	"sub pl_outer { pl_leaf(); tongue('py_inner'); pl_leaf(); ruby('rb_outer') }\n";
static const char in_ruby[] = "eval <<'END', nil, '/tongues.rb'\n"
			      "def rb_leaf; s = 0; 60.times { |i| s += i }; end\n"
			      "def rb_inner; rb_leaf; python('py_leaf'); end\n"
			      "def rb_outer; rb_leaf; perl('pl_inner'); rb_leaf; end\n"
			      "END\n";
static const char in_python[] = "from tongue import perl, ruby\n"
				"def py_leaf():\n"
				"    s = 0\n"
				"    for i in range(60): s += i\n"
				"def py_inner():\n"
				"    py_leaf(); perl('pl_inner'); py_leaf(); ruby('rb_inner')\n"
				"def py_outer():\n"
				"    py_leaf(); perl('pl_outer'); py_leaf()\n"
				"while True:\n"
				"    py_outer(); ruby('rb_outer'); perl('pl_inner')\n";

/* The chains begin with these, and lead on from there. */
#define OF_OUTER     "<module>;py_outer;main::pl_outer;"
#define OF_INNER     OF_OUTER "py_inner;"
#define ALSO(chain)  ",\"" chain "\""
#define PL_INNER(of) ALSO(of "main::pl_inner;main::pl_leaf") ALSO(of "main::pl_inner;py_leaf")
#define RB_LEAF(of)  ALSO(of "Object#rb_leaf;block in Object#rb_leaf")
#define RB_OUTER(of) RB_LEAF(of "Object#rb_outer;") PL_INNER(of "Object#rb_outer;")

static const char chains[] = "[\"<module>;py_outer;py_leaf\"" ALSO(OF_OUTER "main::pl_leaf")
	ALSO(OF_INNER "py_leaf") PL_INNER(OF_INNER) PL_INNER("<module>;");
static const char chains_ruby[] = RB_OUTER("<module>;") RB_OUTER(OF_OUTER)
	RB_LEAF(OF_INNER "Object#rb_inner;") ALSO(OF_INNER "Object#rb_inner;py_leaf");

static void call_python(const char *name)
{
	Py_XDECREF(PyObject_CallNoArgs(PyDict_GetItemString(globals, name)));
}

static void call_perl(const char *name)
{
	dSP;

	ENTER;
	SAVETMPS;
	PUSHMARK(SP);
	call_pv(name, G_DISCARD | G_NOARGS | G_VOID);
	FREETMPS;
	LEAVE;
}

static value call_protected(value name)
{
	return rb_funcall(8 /* nil */, name, 0);
}

static void call_ruby(const char *name)
{
	int state;

	if (rb_protect)
		rb_protect(call_protected, rb_intern(name), &state);
}

/* --- what each has of the others ------------------------------------------------------------- */

static PyObject *python_perl(PyObject *self, PyObject *name)
{
	(void)self;
	call_perl(PyUnicode_AsUTF8(name));
	Py_RETURN_NONE;
}

static PyObject *python_ruby(PyObject *self, PyObject *name)
{
	(void)self;
	call_ruby(PyUnicode_AsUTF8(name));
	Py_RETURN_NONE;
}

XS(perl_python)
{
	dXSARGS;
	call_python(SvPV_nolen(ST(0)));
	XSRETURN_EMPTY;
}

XS(perl_ruby)
{
	dXSARGS;
	call_ruby(SvPV_nolen(ST(0)));
	XSRETURN_EMPTY;
}

static value ruby_perl(value self, value name)
{
	(void)self;
	call_perl(rb_string(&name));
	return 8;
}

static value ruby_python(value self, value name)
{
	(void)self;
	call_python(rb_string(&name));
	return 8;
}

/* --- their beginnings ------------------------------------------------------------------------ */

static PyObject *begin_tongue(void)
{
	static PyMethodDef methods[] = {{"perl", python_perl, METH_O, NULL},
					{"ruby", python_ruby, METH_O, NULL},
					{NULL, NULL, 0, NULL}};
	static struct PyModuleDef module = {
		PyModuleDef_HEAD_INIT, "tongue", NULL, -1, methods, NULL, NULL, NULL, NULL};

	return PyModule_Create(&module);
}

static void begin_perl(void)
{
	char *words[] = {"", "-e", (char *)in_perl, NULL};

	my_perl = perl_alloc();
	perl_construct(my_perl);
	perl_parse(my_perl, NULL, 3, words, NULL);
	perl_run(my_perl);
	newXS("main::tongue", perl_python, __FILE__);
	newXS("main::ruby", perl_ruby, __FILE__);
}

static void begin_ruby(void *library)
{
	void (*init_stack)(void *) = dlsym(library, "ruby_init_stack");
	void (*init)(void) = dlsym(library, "ruby_init");
	void (*define)(const char *, value (*)(value, value), int) =
		dlsym(library, "rb_define_global_function");
	value (*eval)(const char *) = dlsym(library, "rb_eval_string");
	value here;

	init_stack(&here);
	init();
	rb_funcall = dlsym(library, "rb_funcall");
	rb_protect = dlsym(library, "rb_protect");
	rb_intern = dlsym(library, "rb_intern");
	rb_string = dlsym(library, "rb_string_value_ptr");
	define("perl", ruby_perl, 1);
	define("python", ruby_python, 1);
	eval(in_ruby);
}

int main(int argc, char **argv, char **env)
{
	void *ruby = NULL;

	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);

		if (!library)
			return puts(dlerror());
		if (dlsym(library, "ruby_init_stack"))
			ruby = library;
	}
	PERL_SYS_INIT3(&argc, &argv, &env);
	PyImport_AppendInittab("tongue", begin_tongue);
	Py_InitializeEx(0);
	globals = PyModule_GetDict(PyImport_AddModule("__main__"));
	begin_perl();
	if (ruby)
		begin_ruby(ruby);
	printf("%s%s]\n", chains, ruby ? chains_ruby : "");
	fflush(stdout);
	return PyRun_SimpleString(in_python);
}
