// Virtual methods, templates, the library's containers, and exceptions.
#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

struct Shape {
	virtual ~Shape() = default;
	virtual double area(int depth) const = 0;
};

struct Square : Shape {
	double side;
	explicit Square(double side) : side(side) {}
	KEEP double area(int depth) const override
	{
		return depth ? side + area(depth - 1) * 0.5 : side * side;
	}
};

struct Circle : Shape {
	double radius;
	explicit Circle(double radius) : radius(radius) {}
	KEEP double area(int depth) const override
	{
		return depth ? area(depth - 1) + 1.0 : radius * radius * 3.14;
	}
};

template <typename T> KEEP T sort_all(std::vector<T> &all)
{
	std::sort(all.begin(), all.end(), [](const T &a, const T &b) { return b < a; });
	return all[0];
}

KEEP int thrower(int number)
{
	if (number % 3 == 0)
		throw std::runtime_error("third");
	return number;
}

KEEP int catcher()
{
	int sum = 0;
	for (int i = 0; i < 60; i++) {
		try {
			sum += thrower(i);
		} catch (const std::exception &error) {
			sum += error.what()[0];
		}
	}
	return sum;
}

KEEP double work(unsigned &seed)
{
	std::vector<std::unique_ptr<Shape>> shapes;
	std::map<std::string, int> words;
	std::vector<unsigned> numbers;
	double sum = 0;

	for (int i = 0; i < 2000; i++) {
		seed = seed * 1103515245 + 12345;
		numbers.push_back(seed >> 8);
		words["word" + std::to_string(seed % 500)]++;
		if (i % 2)
			shapes.push_back(std::make_unique<Square>(i));
		else
			shapes.push_back(std::make_unique<Circle>(i));
	}
	for (const auto &shape : shapes)
		sum += shape->area(10);
	static const std::regex pattern("([a-z]+)(4[0-9]*)");
	for (int i = 0; i < 60; i++)
		sum += std::regex_match("word" + std::to_string(i), pattern);
	return sum + sort_all(numbers) + catcher() + words.size();
}

int main()
{
	volatile double sum = 0;
	unsigned seed = 1;
	for (;;)
		sum = sum + work(seed);
}
