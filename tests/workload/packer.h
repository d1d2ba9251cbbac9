// SPDX-License-Identifier: BSD-2-Clause
// A small LZ77: hash chains, literals and matches into a byte vector.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

template <int hash_bits, int max_chain> class Packer
{
	std::array<int32_t, 1 << hash_bits> heads_;
	std::vector<int32_t> previous_;

	static inline uint32_t hash(const char *p)
	{
		uint32_t v;

		memcpy(&v, p, sizeof(v));
		return v * 2654435761u >> (32 - hash_bits);
	}

	static inline size_t common(const char *a, const char *b, const char *end)
	{
		const char *start = b;

		while (b < end && *a == *b)
			a++, b++;
		return b - start;
	}

	[[gnu::noinline]] size_t longest_match(const std::string &in, size_t at, size_t *where)
	{
		size_t best = 0;
		int32_t candidate = heads_[hash(&in[at])];

		for (int i = 0; candidate >= 0 && i < max_chain;
		     i++, candidate = previous_[candidate]) {
			size_t len = common(&in[candidate], &in[at], in.data() + in.size());

			if (len > best)
				best = len, *where = candidate;
		}
		return best;
	}

	inline void remember(const std::string &in, size_t at)
	{
		uint32_t h = hash(&in[at]);

		previous_[at] = heads_[h];
		heads_[h] = at;
	}

      public:
	[[gnu::noinline]] size_t pack(const std::string &in, std::vector<uint8_t> &out)
	{
		heads_.fill(-1);
		previous_.assign(in.size(), -1);
		out.clear();
		for (size_t at = 0; at < in.size();) {
			size_t where = 0,
			       len = at + 4 <= in.size() ? longest_match(in, at, &where) : 0;

			if (len < 4) {
				out.push_back(in[at]);
				len = 1;
			} else {
				for (size_t v : {at - where, len})
					out.push_back(v), out.push_back(v >> 8);
			}
			for (size_t end = at + len; at < end; at++)
				if (at + 4 <= in.size())
					remember(in, at);
		}
		return out.size();
	}
};

class Journal
{
	Packer<12, 16> packer_;
	std::vector<uint8_t> out_;

      public:
	[[gnu::noinline]] size_t pack_batch(const std::string &text)
	{
		return packer_.pack(text, out_);
	}
};
