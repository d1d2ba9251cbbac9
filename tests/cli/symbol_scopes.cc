// Functions that gcc gives no linkage name, or only a local one, each inlined into main: by their scopes alone they can be told apart.
#include <cstdlib>

#define INLINE __attribute__((always_inline)) inline

struct Order {
	int a, b;
};

template <class F> INLINE int twice(F f) { return f(std::rand()) + f(2); }

namespace feed {
namespace {
struct Hidden {
	int v;
	INLINE explicit Hidden(int x) : v(x + std::rand()) {}
	INLINE ~Hidden() { std::srand(unsigned(v)); }
	INLINE int take(int x) { return v * std::rand() + x; }
};
template <class T, int N> struct Box {
	T t;
	INLINE int open(int n) { return int(t) + std::rand() * n * N; }
	struct Lid {
		INLINE static int lift(int n) { return std::rand() * n + N; }
	};
};
INLINE int free_function(int x) { return std::rand() ^ x; }
} // namespace

inline namespace v2 {
struct Feed {
	INLINE int parse(Order &o)
	{
		auto add = [&](int d) __attribute__((always_inline)) { return o.a += std::rand() * d; };
		struct Local {
			int k;
			INLINE int half() { return k / (std::rand() | 1); }
		};
		union Either {
			int i;
			INLINE int pick() { return i - std::rand(); }
		};
		return add(3) + add(o.b) + Local{o.b}.half() + Either{o.a}.pick();
	}
};
} // namespace v2
} // namespace feed

static INLINE int file_local(int x) { return x + std::rand(); }

typedef struct {
	int z;
	INLINE int member() { return z * std::rand(); }
} Named;

int main(int argc, char **)
{
	Order o{argc, 2};
	feed::Hidden hidden(argc);
	feed::Box<char, 3> box{char(argc)};
	feed::Feed f;
	Named named{argc};
	auto in_main = [&](int x) __attribute__((always_inline)) { return x * std::rand() + argc; };
	struct {
		int v;
		INLINE int nameless() { return v * std::rand(); }
	} thing{argc};
	return f.parse(o) + hidden.take(argc) + box.open(argc) + feed::Box<int, 5>::Lid::lift(argc) + feed::free_function(argc) +
	       file_local(argc) + named.member() + in_main(4) + twice(in_main) + thing.nameless();
}
