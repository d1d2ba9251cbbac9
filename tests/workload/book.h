// SPDX-License-Identifier: BSD-2-Clause
// An order book per symbol: price levels in maps, orders served first in, first out; trades are
// reported to a callback.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "order.h"

struct Trade {
	uint64_t buyer, seller;
	int64_t price;
	uint32_t quantity;
};

using TradeSink = std::function<void(const Trade &)>;

template <Side side> struct Better {
	bool operator()(int64_t a, int64_t b) const
	{
		return side == Side::buy ? a > b : a < b;
	}
};

class Book
{
	template <Side side> using Levels = std::map<int64_t, std::deque<Order>, Better<side>>;
	Levels<Side::buy> bids_;
	Levels<Side::sell> asks_;
	size_t resting_ = 0;

	template <Side side> auto &own()
	{
		if constexpr (side == Side::buy)
			return bids_;
		else
			return asks_;
	}

	template <Side side> static bool crosses(const Order &order, int64_t level)
	{
		return side == Side::buy ? order.price >= level : order.price <= level;
	}

	template <Side side>
	void fill(Order &order, std::deque<Order> &queue, const TradeSink &sink)
	{
		while (order.quantity && !queue.empty()) {
			Order &other = queue.front();
			uint32_t quantity = std::min(order.quantity, other.quantity);

			sink(side == Side::buy ? Trade{order.id, other.id, other.price, quantity}
					       : Trade{other.id, order.id, other.price, quantity});
			order.quantity -= quantity;
			other.quantity -= quantity;
			if (!other.quantity) {
				queue.pop_front();
				resting_--;
			}
		}
	}

      public:
	template <Side side> [[gnu::noinline]] void submit(Order order, const TradeSink &sink)
	{
		constexpr Side opposite = side == Side::buy ? Side::sell : Side::buy;
		auto &levels = own<opposite>();

		for (auto it = levels.begin();
		     it != levels.end() && order.quantity && crosses<side>(order, it->first);) {
			fill<side>(order, it->second, sink);
			it = it->second.empty() ? levels.erase(it) : std::next(it);
		}
		if (order.quantity) {
			own<side>()[order.price].push_back(order);
			resting_++;
		}
		if (resting_ > 4096) { // the day ends
			bids_.clear();
			asks_.clear();
			resting_ = 0;
		}
	}
};

class Engine
{
	std::vector<Book> books_{16};

      public:
	[[gnu::noinline]] size_t match_batch(const std::vector<Order> &orders, std::string &journal)
	{
		size_t trades = 0;
		TradeSink sink = [&](const Trade &t) {
			trades++;
			if (journal.size() < 1 << 16)
				journal += std::to_string(t.buyer) + "/" +
					   std::to_string(t.seller) + "@" +
					   std::to_string(t.price) + "*" +
					   std::to_string(t.quantity) + "\n";
		};

		for (const Order &o : orders)
			if (o.side == Side::buy)
				books_[o.symbol % books_.size()].submit<Side::buy>(o, sink);
			else
				books_[o.symbol % books_.size()].submit<Side::sell>(o, sink);
		return trades;
	}
};
