package main

/*
#include <stdlib.h>
extern int goCompare(void *a, void *b);
static int order(const void *a, const void *b) { return goCompare((void *)a, (void *)b); }
static void sort_in_c(int *numbers, int count) { qsort(numbers, count, sizeof(int), order); }
static int burn_in_c(int rounds) { volatile int sum = 0; for (int i = 0; i < rounds; i++) sum += i; return sum; }
*/
import "C"
import "unsafe"

//export goCompare
func goCompare(a, b unsafe.Pointer) C.int {
	return *(*C.int)(a) - *(*C.int)(b)
}

//go:noinline
func sortNumbers() {
	numbers := make([]C.int, 300)
	for i := range numbers {
		numbers[i] = C.int(i * 7919 % 300)
	}
	C.sort_in_c(&numbers[0], 300)
}

func main() {
	for {
		sortNumbers()
		C.burn_in_c(200000)
	}
}
