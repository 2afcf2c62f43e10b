// The functions of GCC's OpenMP runtime that ggml calls (GOMP_parallel, GOMP_barrier, GOMP_single_start; their ABI is stable
// since GCC 4.9), for its one use of them: a region of all threads for each graph, with barriers in it. Each thread that computes
// leads a team of its own; its threads end with it.
#include "compute_team.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// Polling alone on its cores: longer than the serial work between two graphs, and than threads differ within one.
constexpr int64_t kLongPollNs = 2000000;
// Beside others: about as long as it takes to see that the wait is none.
constexpr int64_t kShortPollNs = 5000;
// Share of the time in run queues from which on a team is beside others, and below which it is alone again. Polling loses about
// this share for each thread; sleeping loses what it takes to wake one, at each barrier.
constexpr double kContended = 0.06;
constexpr double kAlone = 0.02;
constexpr int64_t kLookNs = 50000000;
// Until something is known of the machine.
constexpr int64_t kFirstPollNs = 50000;

// The number of a region and how many threads it has, in one word that threads wait for.
constexpr uint32_t kThreadBits = 10;
constexpr uint32_t kMostThreads = 1u << (kThreadBits - 1);

int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
}

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

// A word that threads wait for to change.
class Gate {
  public:
    uint32_t value() const { return word_.load(std::memory_order_acquire); }

    void wait(uint32_t old, int64_t poll_ns) {
        if (polled(old, poll_ns)) return;
        n_sleeping_.fetch_add(1);
        while (word_.load() == old) syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
        n_sleeping_.fetch_sub(1);
    }

    void open(uint32_t value) {
        word_.store(value);
        if (n_sleeping_.load() > 0) syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }

  private:
    bool polled(uint32_t old, int64_t poll_ns) const {
        const int64_t until = now_ns() + poll_ns;
        do {
            for (int i = 0; i < 64; i++) {
                if (word_.load(std::memory_order_acquire) != old) return true;
                relax();
            }
        } while (now_ns() < until);
        return false;
    }

    alignas(64) std::atomic<uint32_t> word_{0};
    alignas(64) std::atomic<uint32_t> n_sleeping_{0};
};

// How long a thread has stood in run queues: the second number of its schedstat, in nanoseconds.
class RunQueueClock {
  public:
    RunQueueClock() = default;
    RunQueueClock(const RunQueueClock &) = delete;
    RunQueueClock & operator=(const RunQueueClock &) = delete;
    ~RunQueueClock() {
        if (file_ >= 0) close(file_);
    }

    // Of the calling thread, from here on.
    void follow_caller() {
        char path[64];
        std::snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
        file_ = open(path, O_RDONLY | O_CLOEXEC);
    }

    // -1 where the system does not tell.
    int64_t read_ns() const {
        char text[96];
        const ssize_t n = file_ < 0 ? -1 : pread(file_, text, sizeof text - 1, 0);
        if (n <= 0) return -1;
        text[n] = 0;
        long long ran = 0;
        long long queued = 0;
        return std::sscanf(text, "%lld %lld", &ran, &queued) == 2 ? queued : -1;
    }

  private:
    std::atomic<int> file_{-1};
};

class Team;

// Of the calling thread in the region that it is in.
struct Place {
    Team * team = nullptr;
    uint32_t id = 0;
    uint32_t n_threads = 1;
    uint32_t n_singles = 0;
};
thread_local Place place;

class Team {
  public:
    Team() { leader_clock_.follow_caller(); }

    ~Team() {
        is_ending_ = true;
        start_.open(start_.value() + (1u << kThreadBits));
        for (auto & worker : workers_) worker->thread.join();
    }

    void run(void (*work)(void *), void * data, uint32_t n_wanted) {
        grow(n_wanted);
        const auto n_threads = std::min<uint32_t>(n_wanted, static_cast<uint32_t>(workers_.size()) + 1);
        work_ = work;
        data_ = data;
        n_singles_.store(0, std::memory_order_relaxed);
        const int64_t begin = now_ns();
        start_.open(((start_.value() >> kThreadBits) + 1) << kThreadBits | n_threads);
        take_part(0, n_threads);
        end_region(begin);
    }

    // The leader by itself, while the others sleep.
    void run_alone(void (*work)(void *), void * data) {
        const int64_t begin = now_ns();
        work(data);
        end_region(begin);
    }

    void meet() {
        const uint32_t phase = barrier_.value();
        if (n_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < place.n_threads) {
            barrier_.wait(phase, poll_ns_.load(std::memory_order_relaxed));
            return;
        }
        n_arrived_.store(0, std::memory_order_relaxed);
        barrier_.open(phase + 1);
    }

    bool is_first_at_single() {
        uint32_t nth = place.n_singles++;
        return n_singles_.compare_exchange_strong(nth, nth + 1);
    }

    svc_compute_team_state state() const {
        return {static_cast<unsigned>(workers_.size()) + 1, poll_ns_.load(std::memory_order_relaxed) / 1000.0, queued_share_};
    }

  private:
    struct Worker {
        RunQueueClock clock;
        std::thread thread;
    };

    // As many workers as can be had.
    void grow(uint32_t n_wanted) {
        while (workers_.size() + 1 < n_wanted) {
            std::unique_ptr<Worker> worker;
            try {
                workers_.reserve(n_wanted);
                worker = std::make_unique<Worker>();
            } catch (const std::bad_alloc &) {
                return;
            }
            const auto id = static_cast<uint32_t>(workers_.size()) + 1;
            // Signals are the business of the process's other threads.
            sigset_t all;
            sigset_t before;
            sigfillset(&all);
            // Of a model file that was cut (mapped_file_guard.h): one that is blocked would end the process.
            sigdelset(&all, SIGBUS);
            pthread_sigmask(SIG_SETMASK, &all, &before);
            try {
                worker->thread = std::thread([this, own = worker.get(), id, seen = start_.value()] { serve(*own, id, seen); });
            } catch (...) {
                // No memory or no thread; ggml, which is C, called this.
                pthread_sigmask(SIG_SETMASK, &before, nullptr);
                return;
            }
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            workers_.push_back(std::move(worker));
        }
    }

    void serve(Worker & worker, uint32_t id, uint32_t seen) {
        pthread_setname_np(pthread_self(), "svc-compute");
        worker.clock.follow_caller();
        for (;;) {
            start_.wait(seen, poll_ns_.load(std::memory_order_relaxed));
            seen = start_.value();
            if (is_ending_) return;
            const uint32_t n_threads = seen & ((1u << kThreadBits) - 1);
            if (id < n_threads) take_part(id, n_threads);
        }
    }

    void take_part(uint32_t id, uint32_t n_threads) {
        place = {this, id, n_threads, 0};
        work_(data_);
        meet();
        place = {};
    }

    void end_region(int64_t begin) {
        busy_ns_ += now_ns() - begin;
        if (busy_ns_ >= kLookNs) look_around();
    }

    // By the leader, between regions.
    void look_around() {
        int64_t queued_ns = 0;
        uint32_t n_known = 0;
        const auto add = [&](const RunQueueClock & clock) {
            const int64_t ns = clock.read_ns();
            if (ns < 0) return;
            queued_ns += ns;
            n_known++;
        };
        add(leader_clock_);
        for (const auto & worker : workers_) add(worker->clock);
        if (n_known > 0 && n_known == n_known_) choose(static_cast<double>(queued_ns - queued_ns_) / n_known);
        n_known_ = n_known;
        queued_ns_ = queued_ns;
        busy_ns_ = 0;
    }

    void choose(double queued_ns) {
        queued_share_ = std::clamp(queued_ns / static_cast<double>(busy_ns_), 0.0, 1.0);
        if (queued_share_ > kContended) poll_ns_.store(kShortPollNs, std::memory_order_relaxed);
        else if (queued_share_ < kAlone) poll_ns_.store(kLongPollNs, std::memory_order_relaxed);
    }

    Gate start_;
    Gate barrier_;
    alignas(64) std::atomic<uint32_t> n_arrived_{0};
    alignas(64) std::atomic<uint32_t> n_singles_{0};
    alignas(64) std::atomic<int64_t> poll_ns_{kFirstPollNs};
    std::atomic<bool> is_ending_{false};
    void (*work_)(void *) = nullptr;
    void * data_ = nullptr;

    // The leader's.
    std::vector<std::unique_ptr<Worker>> workers_;
    RunQueueClock leader_clock_;
    uint32_t n_known_ = 0;
    int64_t queued_ns_ = 0;
    int64_t busy_ns_ = 0;  // in regions, since the queues were looked at
    double queued_share_ = 0;
};

thread_local std::unique_ptr<Team> led;

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void GOMP_parallel(void (*work)(void *), void * data, unsigned n_threads, unsigned) {
    if (n_threads == 0) n_threads = std::max(1u, std::thread::hardware_concurrency());
    if (n_threads == 1 && led && !place.team) return led->run_alone(work, data);
    if (n_threads > 1 && !led && !place.team) led.reset(new (std::nothrow) Team);
    if (n_threads == 1 || place.team || !led) {
        // Alone, also within a region.
        const Place outer = place;
        place = {};
        work(data);
        place = outer;
        return;
    }
    led->run(work, data, std::min(n_threads, kMostThreads));
}

EXPORT void GOMP_barrier() {
    if (place.team) place.team->meet();
}

EXPORT bool GOMP_single_start() { return !place.team || place.team->is_first_at_single(); }

EXPORT int omp_get_num_threads() { return static_cast<int>(place.n_threads); }

EXPORT int omp_get_thread_num() { return static_cast<int>(place.id); }

svc_compute_team_state svc_compute_team_state_of_caller() { return led ? led->state() : svc_compute_team_state{1, 0, 0}; }
