// SPDX-License-Identifier: BSD-2-Clause
//
// A small trading service as a workload to be recorded: workers parse orders, match them, compress
// the journal and value instruments; a ledger behind one mutex is shared; an auditor reads and
// writes files and sleeps. Each stage is given its share of the CPU time whatever the machine's
// speed, and at the end the program says what it did, so a profile of it can be held against its
// own account:
//
//   demo SECONDS [--threads N] [--only STAGE]
//
//   operations TOTAL
//   stage NAME share PERCENT planned PERCENT calls N function NAME
//   ledger waits N blocked_ms N          auditor sleeps N slept_ms N

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "book.h"
#include "order.h"
#include "packer.h"
#include "risk.h"

namespace
{

constexpr int stage_cnt = 5;
constexpr int risk_depth = 32; // and about 8 frames above it

struct Plan {
	const char *name, *function;
	int percent;
};

constexpr Plan plans[stage_cnt] = {
	{"parse", "Feed::parse_batch", 28},	{"match", "Engine::match_batch", 24},
	{"journal", "Packer<12, 16>::pack", 23}, {"risk", "Risk::value_batch", 18},
	{"ledger", "Ledger::commit", 7},
};

std::atomic<bool> stopping{false};

struct Account {
	uint64_t cpu_ns[stage_cnt] = {}, calls[stage_cnt] = {};
	uint64_t waits = 0, blocked_ns = 0;
};

uint64_t now_ns(clockid_t clock)
{
	timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

// What reading the thread's clock adds to the time between two readings, a system call's: a part of
// no stage, and of short calls a larger share.
uint64_t clock_cost_ns()
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);

		least = std::min(least, now_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	}
	return least;
}

// What all workers write to, so that they wait for each other.
class Ledger
{
	std::mutex lock_;
	uint64_t entries_[256] = {};

	// Long enough that what no sample sees, what a wait takes with interrupts off, is little of
	// it.
	[[gnu::noinline]] void post(uint64_t trades)
	{
		for (uint64_t round = 0; round < 240; round++)
			for (size_t i = 0; i < 256; i++)
				entries_[i] =
					(entries_[i] ^ trades) * 0x9E3779B97F4A7C15ULL + round;
	}

      public:
	[[gnu::noinline]] void commit(uint64_t trades, Account &account)
	{
		std::unique_lock<std::mutex> hold(lock_, std::try_to_lock);

		if (!hold) {
			uint64_t start = now_ns(CLOCK_MONOTONIC);

			hold.lock();
			account.waits++;
			account.blocked_ns += now_ns(CLOCK_MONOTONIC) - start;
		}
		post(trades);
	}

	uint64_t checksum() const
	{
		return entries_[0];
	}
};

class Worker
{
	Feed feed_;
	Engine engine_;
	Journal journal_;
	Risk risk_{risk_depth};
	Ledger &ledger_;
	int only_;
	std::vector<Order> orders_;
	std::string text_;
	double value_ = 0;
	uint64_t packed_ = 0, rounds_ = 0;
	std::minstd_rand lots_;

	// By lot: a stage's chance is what it lacks of its share, and of what its share of the next
	// 20 ms will be, in calls. In a fixed order the stages would come round with a period of
	// their own, and a profiler's clock would meet some more often than others.
	int next_stage()
	{
		double chances[stage_cnt], total = 20e6;

		if (only_ >= 0)
			return only_;
		for (uint64_t ns : account.cpu_ns)
			total += ns;
		for (int i = 0; i < stage_cnt; i++) {
			if (!account.calls[i])
				return i;
			double lacks = plans[i].percent / 100.0 * total - account.cpu_ns[i];

			chances[i] = std::max(0.0, lacks) * account.calls[i] / account.cpu_ns[i];
		}
		return std::discrete_distribution<int>(chances, chances + stage_cnt)(lots_);
	}

	void run_stage(int stage)
	{
		switch (stage) {
		case 0:
			feed_.parse_batch(orders_);
			break;
		case 1:
			text_.clear();
			trades += engine_.match_batch(orders_, text_);
			break;
		case 2:
			packed_ += journal_.pack_batch(text_);
			break;
		case 3:
			value_ += risk_.value_batch(90 + rounds_ % 20);
			break;
		case 4:
			ledger_.commit(trades, account);
			break;
		}
	}

      public:
	Account account;
	uint64_t trades = 0;

	Worker(uint64_t seed, Ledger &ledger, int only)
	    : feed_(seed), ledger_(ledger), only_(only), lots_(seed)
	{
		feed_.parse_batch(orders_); // so that no stage is without input
		while (text_.size() < 2000)
			engine_.match_batch(orders_, text_);
	}

	[[gnu::noinline]] void serve()
	{
		const uint64_t clock_ns = clock_cost_ns();

		while (!stopping.load(std::memory_order_relaxed)) {
			int stage = next_stage();
			uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);

			run_stage(stage);
			account.cpu_ns[stage] += now_ns(CLOCK_THREAD_CPUTIME_ID) - start - clock_ns;
			account.calls[stage]++;
			if (++rounds_ % 1024 == 0)
				std::this_thread::sleep_for(std::chrono::milliseconds(2));
		}
	}

	double checksum() const
	{
		return value_ + packed_;
	}
};

// Reads and writes a file of its own and sleeps: blocked most of the time.
class Auditor
{
	int fd_ = -1;
	std::vector<char> block_ = std::vector<char>(64 << 10, 'x');

	[[gnu::noinline]] void write_log()
	{
		if (pwrite(fd_, block_.data(), block_.size(), 0) < 0 || fdatasync(fd_))
			perror("demo: audit log");
	}

	[[gnu::noinline]] size_t read_log()
	{
		ssize_t n = pread(fd_, block_.data(), block_.size(), 0);

		return n > 0 ? n : 0;
	}

	[[gnu::noinline]] void rest()
	{
		uint64_t start = now_ns(CLOCK_MONOTONIC);

		std::this_thread::sleep_for(std::chrono::milliseconds(20));
		sleeps++;
		slept_ns += now_ns(CLOCK_MONOTONIC) - start;
	}

      public:
	uint64_t sleeps = 0, slept_ns = 0, bytes = 0;

	Auditor()
	{
		char path[] = "/tmp/demo-audit.XXXXXX";

		fd_ = mkstemp(path);
		if (fd_ >= 0)
			unlink(path);
	}
	~Auditor()
	{
		close(fd_);
	}

	[[gnu::noinline]] void audit()
	{
		while (!stopping.load(std::memory_order_relaxed)) {
			write_log();
			bytes += read_log();
			rest();
		}
	}
};

struct Options {
	double seconds = 10;
	unsigned threads = 4;
	int only = -1;
};

[[noreturn]] void usage()
{
	fprintf(stderr,
		"usage: demo SECONDS [--threads N] [--only parse|match|journal|risk|ledger]\n");
	exit(2);
}

Options parse_options(int argc, char **argv)
{
	Options o;

	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (!strcmp(argv[i], "--threads") && more) {
			o.threads = atoi(argv[++i]);
		} else if (!strcmp(argv[i], "--only") && more) {
			i++;
			for (int s = 0; s < stage_cnt; s++)
				if (!strcmp(argv[i], plans[s].name))
					o.only = s;
			if (o.only < 0)
				usage();
		} else if ((o.seconds = atof(argv[i])) <= 0) {
			usage();
		}
	}
	if (!o.threads || o.threads > 1024)
		usage();
	return o;
}

void report(const std::vector<std::unique_ptr<Worker>> &workers, const Auditor &auditor,
	    const Ledger &ledger)
{
	Account sum;
	uint64_t total_ns = 0, operations = 0, trades = 0;
	double checksum = ledger.checksum() % 1000;

	for (const auto &w : workers) {
		for (int i = 0; i < stage_cnt; i++) {
			sum.cpu_ns[i] += w->account.cpu_ns[i];
			sum.calls[i] += w->account.calls[i];
			total_ns += w->account.cpu_ns[i];
			operations += w->account.calls[i];
		}
		sum.waits += w->account.waits;
		sum.blocked_ns += w->account.blocked_ns;
		trades += w->trades;
		checksum += w->checksum();
	}
	printf("operations %lu trades %lu cpu_ms %lu checksum %.0f\n", operations, trades,
	       total_ns / 1000000, checksum);
	for (int i = 0; i < stage_cnt; i++)
		printf("stage %s share %.2f planned %d calls %lu function %s\n", plans[i].name,
		       total_ns ? 100.0 * sum.cpu_ns[i] / total_ns : 0.0, plans[i].percent,
		       sum.calls[i], plans[i].function);
	printf("ledger waits %lu blocked_ms %lu\n", sum.waits, sum.blocked_ns / 1000000);
	printf("auditor sleeps %lu slept_ms %lu bytes %lu\n", auditor.sleeps,
	       auditor.slept_ns / 1000000, auditor.bytes);
}

} // namespace

int main(int argc, char **argv)
{
	Options o = parse_options(argc, argv);
	std::vector<std::unique_ptr<Worker>> workers;
	std::vector<std::thread> threads;
	Ledger ledger;
	Auditor auditor;
	sigset_t stop;
	timespec time = {(time_t)o.seconds, (long)((o.seconds - (time_t)o.seconds) * 1e9)};

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &stop, nullptr);
	for (unsigned i = 0; i < o.threads; i++) {
		workers.push_back(std::make_unique<Worker>(i + 1, ledger, o.only));
		threads.emplace_back(&Worker::serve, workers.back().get());
		pthread_setname_np(threads.back().native_handle(),
				   ("worker-" + std::to_string(i)).c_str());
	}
	threads.emplace_back(&Auditor::audit, &auditor);
	pthread_setname_np(threads.back().native_handle(), "auditor");
	// The end of the time, Ctrl-C, or kill; not that it stood still for a while.
	while (sigtimedwait(&stop, nullptr, &time) < 0 && errno == EINTR)
		;
	stopping = true;
	for (std::thread &t : threads)
		t.join();
	report(workers, auditor, ledger);
	return 0;
}
