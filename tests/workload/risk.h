// SPDX-License-Identifier: BSD-2-Clause
// An instrument is an expression, evaluated by virtual calls, `depth` levels deep before the price
// itself.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

struct Market {
	double rate, volatility, spot;
};

class Node
{
      public:
	virtual ~Node() = default;
	virtual double value(const Market &m) const = 0;
};

class Option final : public Node
{
	double strike_;

	static inline double normal(double x)
	{
		return 0.5 * std::erfc(-x * M_SQRT1_2);
	}

      public:
	explicit Option(double strike) : strike_(strike)
	{
	}
	[[gnu::noinline]] double value(const Market &m) const override
	{
		double sum = 0;

		for (int month = 1; month <= 60;
		     month++) { // Black and Scholes, over the months of five years
			double t = month / 12.0, s = m.volatility * std::sqrt(t);
			double d1 = (std::log(m.spot / strike_) + (m.rate + s * s / 2) * t) / s;

			sum += m.spot * normal(d1) -
			       strike_ * std::exp(-m.rate * t) * normal(d1 - s);
		}
		return sum / 60;
	}
};

class Scaled final : public Node
{
	std::unique_ptr<Node> of_;
	double factor_;

      public:
	Scaled(std::unique_ptr<Node> of, double factor) : of_(std::move(of)), factor_(factor)
	{
	}
	[[gnu::noinline]] double value(const Market &m) const override
	{
		return of_->value(m) * factor_ + 0.01;
	}
};

class Shifted final : public Node
{
	std::unique_ptr<Node> of_;
	double by_;

      public:
	Shifted(std::unique_ptr<Node> of, double by) : of_(std::move(of)), by_(by)
	{
	}
	[[gnu::noinline]] double value(const Market &m) const override
	{
		Market moved = m;

		moved.spot += by_;
		return of_->value(moved) - by_ / 2;
	}
};

class Risk
{
	std::unique_ptr<Node> instrument_;

      public:
	explicit Risk(int depth) : instrument_(std::make_unique<Option>(100))
	{
		for (int i = 0; i < depth; i++)
			if (i % 2)
				instrument_ =
					std::make_unique<Scaled>(std::move(instrument_), 0.999);
			else
				instrument_ =
					std::make_unique<Shifted>(std::move(instrument_), 0.05);
	}

	[[gnu::noinline]] double value_batch(double spot)
	{
		double sum = 0;

		for (int i = 0; i < 40; i++)
			sum += instrument_->value({0.02, 0.1 + i * 0.005, spot});
		return sum;
	}
};
