// A generator of Boost.Coroutine, which runs on a stack of its own.
#include <boost/coroutine/all.hpp>
#include <algorithm>
#include <vector>

using Coroutine = boost::coroutines::asymmetric_coroutine<unsigned>;

__attribute__((noinline)) unsigned sort_numbers(unsigned &seed)
{
	std::vector<unsigned> numbers;
	for (int i = 0; i < 2000; i++)
		numbers.push_back((seed = seed * 1103515245 + 12345) >> 8);
	std::sort(numbers.begin(), numbers.end());
	return numbers[0];
}

static void generate(Coroutine::push_type &sink)
{
	unsigned seed = 1;
	for (;;)
		sink(sort_numbers(seed));
}

int main()
{
	volatile unsigned sum = 0;
	Coroutine::pull_type source(generate);
	for (;;) {
		sum = sum + source.get();
		source();
	}
}
