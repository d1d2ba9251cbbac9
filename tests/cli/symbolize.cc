// Compiled in many ways by symbolize.sh: deep inlining, clones, cold parts, lambdas, anonymous namespaces, dead code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {
struct Point {
	int x, y;
	bool operator<(const Point &o) const { return x < o.x || (x == o.x && y < o.y); }
};
template <int N> struct Tower {
	Tower<N - 1> below;
	std::map<std::string, std::vector<Point>> rooms;
	int climb(int d)
	{
		int sum = 0;
		for (auto &room : rooms)
			for (auto &p : room.second)
				sum += p.x * N;
		rooms[std::to_string(d)].push_back({d, sum});
		return sum + below.climb(d + 1);
	}
};
template <> struct Tower<0> {
	int climb(int d) { return d; }
};
} // namespace

struct Shape {
	virtual ~Shape() {}
	virtual double area() const = 0;
};
template <class T> struct Square : Shape {
	T side;
	Square(T s) : side(s) {}
	double area() const override { return double(side) * side; }
};

[[gnu::noinline]] void discarded(int n)
{
	std::vector<std::string> names;
	for (int i = 0; i < n; i++)
		names.push_back(std::to_string(i));
	std::sort(names.begin(), names.end());
	for (auto &s : names)
		std::puts(s.c_str());
}

static inline __attribute__((always_inline)) int inner(int x) { return x * 3 + std::rand(); }
static inline __attribute__((always_inline)) int middle(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += inner(i);
	return sum;
}
static inline __attribute__((always_inline)) int outer(int x) { return middle(x) + middle(x + 1); }

int main(int argc, char **argv)
{
	Tower<6> tower;
	std::vector<Point> points;
	for (int i = 0; i < argc * 10; i++)
		points.push_back({std::rand(), i});
	std::sort(points.begin(), points.end());
	auto by_y = [&](const Point &a, const Point &b) { return a.y + argc < b.y; };
	std::stable_sort(points.begin(), points.end(), by_y);
	if (__builtin_expect(argc == 42, 0)) {
		std::fprintf(stderr, "%s\n", argv[0]);
		std::abort();
	}
	std::unique_ptr<Shape> shape(new Square<float>(argc));
	return tower.climb(argc) + outer(argc) + int(shape->area()) + points[0].x;
}
