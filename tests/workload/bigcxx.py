#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the source of a C++ program with a lot of DWARF (14 MB a unit, mostly templates and inlined calls).

    bigcxx.py DIRECTORY [UNITS [CLASSES]]     default: 15 units of 100 classes, 214 MB of DWARF
    make -C DIRECTORY -j2                     3 to 5 minutes of CPU time
    DIRECTORY/big SECONDS                     burns CPU in thousands of its functions, prints how often

No two classes are alike: each has a tag of its own, and all templates are instantiated over it.
"""
import os
import sys

COMMON = """#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Base {
	virtual ~Base() {}
	virtual long step(long x) = 0;
};

template <class Tag, class T> class Cell {
	T v_ = Tag::id;

	static T half(T v) { return v / 2 + Tag::id; }
	static T clamp(T v) { return v > T(1000000) ? half(v) : v; }
	static long rotate(long x, int n) { return (unsigned long)x >> n | (unsigned long)x << ((64 - n) & 63); }

      public:
	T get(long x) const { return clamp(v_ + T(x)); }
	void set(long x) { v_ = clamp(T(x)); }
	long twist(long x) { return rotate(x, Tag::id & 31) ^ v_; }
};

template <class Tag, int N> struct Chain {
	Cell<Tag, int> cell_;
	Chain<Tag, N - 1> next_;

	long run(long x)
	{
		long y = cell_.get(x) + next_.run(x + N);

		cell_.set(y & 0xffff);
		return y;
	}
};

template <class Tag> struct Chain<Tag, 0> {
	long run(long x) { return x ^ Tag::id; }
};

template <class Tag> inline long fold(long x, int n)
{
	return n ? fold<Tag>(x * 31 + Tag::id, n - 1) + n : x;
}
"""

CLASS = """
struct Tag%(c)d {
	static constexpr int id = %(id)d;
};

class Part%(c)d : public Base {
	Cell<Tag%(c)d, int> a_;
	Cell<Tag%(c)d, long> b_;
	Chain<Tag%(c)d, %(depth)d> chain_;
	std::unordered_map<int, Cell<Tag%(c)d, int>> cells_;
	std::vector<std::unique_ptr<Part%(c)d>> others_;

      public:
	explicit Part%(c)d(int others)
	{
		for (int i = 0; i < others; i++)
			others_.push_back(std::make_unique<Part%(c)d>(0));
	}
	long step(long x) override;
	long mix(long x, int n);
};

long Part%(c)d::step(long x)
{
	long y = a_.get(x) + b_.get(x) + chain_.run(x);

	cells_[y & 15].set(y & 0xfffff);
	for (auto &o : others_)
		y += o->mix(y, 2);
	return mix(y, 3);
}

long Part%(c)d::mix(long x, int n)
{
	auto turn = [&](long v) { return a_.get(v) * %(c)d + b_.twist(v); };

	for (int i = 0; i < n; i++)
		x = turn(x) + fold<Tag%(c)d>(x, i);
	return x;
}
"""

MAIN = """#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "common.h"

%(declarations)s

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
	std::vector<std::unique_ptr<Base>> parts;
	unsigned long rounds = 0;
	long sum = 0;

%(calls)s
	while (std::chrono::steady_clock::now() < end) {
		for (auto &p : parts)
			for (int i = 0; i < 20; i++)
				sum = sum * 3 + p->step(i);
		rounds++;
	}
	printf("rounds %%lu parts %%zu checksum %%ld\\n", rounds, parts.size(), sum %% 1000);
	return 0;
}
"""

# -fno-var-tracking: no location lists. They are a tenth of the size, 15 % of the time, and say nothing of functions and lines.
MAKEFILE = """CXX ?= g++
OBJ := main.o %(objects)s
big: $(OBJ)
	$(CXX) -g -Wl,--build-id -o $@ $^
%%.o: %%.cpp common.h
	$(CXX) -std=c++17 -O2 -g -fno-var-tracking -c -o $@ $<
"""


def unit(u, classes):
    parts = [CLASS % {"c": c, "id": u * 1000 + c, "depth": 4 + c % 6} for c in range(classes)]
    make = "".join(f"\tparts.push_back(std::make_unique<Part{c}>({c % 4}));\n" for c in range(classes))
    return (f'#include "common.h"\n\nnamespace unit{u}\n{{\n' + "".join(parts) +
            f"\nvoid make(std::vector<std::unique_ptr<Base>> &parts)\n{{\n{make}}}\n\n}} // namespace unit{u}\n")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    out = sys.argv[1]
    units = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    classes = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    os.makedirs(out, exist_ok=True)
    files = {f"unit{u}.cpp": unit(u, classes) for u in range(units)}
    files["common.h"] = COMMON
    files["main.cpp"] = MAIN % {
        "declarations": "\n".join(f"namespace unit{u} {{ void make(std::vector<std::unique_ptr<Base>> &parts); }}"
                                  for u in range(units)),
        "calls": "".join(f"\tunit{u}::make(parts);\n" for u in range(units))}
    files["Makefile"] = MAKEFILE % {"objects": " ".join(f"unit{u}.o" for u in range(units))}
    for name, text in files.items():
        path = os.path.join(out, name)
        if not os.path.exists(path) or open(path).read() != text:  # what is built stays built
            with open(path, "w") as f:
                f.write(text)


main()
