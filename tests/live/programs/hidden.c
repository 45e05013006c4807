// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A Python of which nothing can be found: it has the symbols of one, and its memory has no frames.
 * Its time is spent in the function that runs Python's code; with an argument outside of that.
 */
unsigned long Py_Version = 0x030b02f0;
char _PyRuntime[1 << 18], PyCode_Type[512];

void _PyEval_EvalFrameDefault(void);

static volatile unsigned long sum;

__attribute__((noinline)) static void spin(void)
{
	for (int i = 0; i < 1000000; i++)
		sum += (unsigned long)i;
	__asm__ volatile("");
}

__attribute__((noinline)) void _PyEval_EvalFrameDefault(void)
{
	for (int i = 0; i < 100; i++)
		spin();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	(void)argv;
	for (;;)
		if (argc > 1)
			spin();
		else
			_PyEval_EvalFrameDefault();
}
