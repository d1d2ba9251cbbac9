// SPDX-License-Identifier: BSD-2-Clause
// Orders as text messages of two venues, and their parsers: virtual calls into templates whose
// field parsers are inlined.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

enum class Side { buy, sell };

struct Order {
	uint64_t id = 0;
	uint32_t symbol = 0, quantity = 0;
	int64_t price = 0; // in hundredths
	Side side = Side::buy;
};

// The same numbers in every run.
class Random
{
	uint64_t state_;

      public:
	explicit Random(uint64_t seed) : state_(seed * 2 + 1)
	{
	}
	uint32_t operator()(uint32_t bound)
	{
		state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
		return (state_ >> 33) % bound;
	}
};

struct FixVenue {
	static constexpr char separator = '|', equals = '=';
	static constexpr const char *id = "11", *symbol = "55", *side = "54", *quantity = "38",
				    *price = "44";
};

struct PlainVenue {
	static constexpr char separator = ' ', equals = ':';
	static constexpr const char *id = "id", *symbol = "sym", *side = "side", *quantity = "qty",
				    *price = "px";
};

class Decoder
{
      public:
	virtual ~Decoder() = default;
	virtual Order decode(std::string_view message) = 0;
	virtual std::string encode(const Order &order) const = 0;
};

template <class Venue> class VenueDecoder final : public Decoder
{
	std::unordered_map<std::string, uint32_t> symbols_;

	static inline uint64_t number(std::string_view digits)
	{
		uint64_t v = 0;

		for (char c : digits) {
			if (c == '.')
				continue;
			if (c < '0' || c > '9')
				throw std::invalid_argument("not a number");
			v = v * 10 + (c - '0');
		}
		return v;
	}

	uint32_t symbol(std::string_view name)
	{
		auto [it, added] = symbols_.try_emplace(std::string(name), symbols_.size());

		return it->second;
	}

	inline void field(Order &order, std::string_view key, std::string_view value)
	{
		if (key == Venue::id)
			order.id = number(value);
		else if (key == Venue::symbol)
			order.symbol = symbol(value);
		else if (key == Venue::side)
			order.side = value == "1" ? Side::buy : Side::sell;
		else if (key == Venue::quantity)
			order.quantity = number(value);
		else if (key == Venue::price)
			order.price = number(value);
	}

      public:
	[[gnu::noinline]] Order decode(std::string_view message) override
	{
		Order order;

		while (!message.empty()) {
			size_t end = message.find(Venue::separator),
			       equals = message.find(Venue::equals);

			if (end == message.npos)
				end = message.size();
			if (equals < end)
				field(order, message.substr(0, equals),
				      message.substr(equals + 1, end - equals - 1));
			message.remove_prefix(end + (end < message.size()));
		}
		return order;
	}

	std::string encode(const Order &o) const override
	{
		auto put = [](std::string &to, const char *key, const std::string &value) {
			to += key;
			to += Venue::equals;
			to += value;
			to += Venue::separator;
		};
		std::string message;

		put(message, Venue::id, std::to_string(o.id));
		put(message, Venue::symbol, "SYM" + std::to_string(o.symbol));
		put(message, Venue::side, o.side == Side::buy ? "1" : "2");
		put(message, Venue::quantity, std::to_string(o.quantity));
		put(message, Venue::price,
		    std::to_string(o.price / 100) + "." + std::to_string(10 + o.price % 90));
		return message;
	}
};

// One venue's messages over and over.
class Feed
{
	std::array<std::unique_ptr<Decoder>, 2> decoders_;
	std::vector<std::string> messages_;
	size_t next_ = 0;

      public:
	static constexpr size_t message_cnt = 512;

	explicit Feed(uint64_t seed)
	{
		Random random(seed);

		decoders_ = {std::make_unique<VenueDecoder<FixVenue>>(),
			     std::make_unique<VenueDecoder<PlainVenue>>()};
		for (size_t i = 0; i < message_cnt; i++) {
			Order o;

			o.id = i;
			o.symbol = random(16);
			o.quantity = 1 + random(500);
			o.price = 10000 + random(400);
			o.side = random(2) ? Side::buy : Side::sell;
			messages_.push_back(decoders_[i % 2]->encode(o));
		}
	}

	[[gnu::noinline]] void parse_batch(std::vector<Order> &orders)
	{
		orders.clear();
		for (int i = 0; i < 256; i++, next_ = (next_ + 1) % message_cnt)
			orders.push_back(decoders_[next_ % 2]->decode(messages_[next_]));
	}
};
