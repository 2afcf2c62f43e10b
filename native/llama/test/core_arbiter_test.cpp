// core-arbiter-test share N_CORES THREADS...: contexts of so many threads that compute 1 ms at a time for 300 ms. Prints the
// most
//   cores that were taken at once, the fewest and the most turns that one of them got, and whether they noticed each other.
// core-arbiter-test beside N_CORES recordings|background N STEPS: a context computes so many steps of 2 ms with 1 ms between
//   them, beside N others that compute 5 ms at a time for recordings or for nobody, for 600 ms, each on two cores. Prints how
//   many turns each kind got, and the longest time, in ms, that a step waited.
// core-arbiter-test hog: how long a context waits, in ms, beside one whose step takes 300 ms.
#include "../../scheduling/core_arbiter.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

int share(uint32_t n_cores, int count, char ** threads) {
    svc::CoreArbiter arbiter(n_cores);
    std::atomic<uint32_t> n_taken{0};
    std::atomic<uint32_t> n_most{0};
    std::atomic<bool> alone{false};
    std::vector<int> n_turns(static_cast<size_t>(count));
    std::vector<std::thread> workers;
    const auto end = svc::Clock::now() + std::chrono::milliseconds(300);
    for (int i = 0; i < count; i++) {
        workers.emplace_back([&, i] {
            const auto n_threads = static_cast<uint32_t>(std::atoi(threads[i]));
            svc::CoreArbiter::Member member(n_threads, arbiter);
            bool noticed = false;
            while (svc::Clock::now() < end) {
                {
                    const svc::CoreGrant grant(member);
                    const uint32_t n_now = n_taken += std::min(n_threads, n_cores);
                    for (auto most = n_most.load(); most < n_now && !n_most.compare_exchange_weak(most, n_now);) continue;
                    sleep_ms(1);
                    n_taken -= std::min(n_threads, n_cores);
                }
                n_turns[static_cast<size_t>(i)]++;
                noticed = noticed || member.is_contended();
            }
            if (!noticed) alone = true;
        });
    }
    for (auto & worker : workers) worker.join();
    std::printf("most %u\nfewest-turns %d\nmost-turns %d\nalone %d\n", n_most.load(),
                *std::min_element(n_turns.begin(), n_turns.end()), *std::max_element(n_turns.begin(), n_turns.end()),
                alone.load());
    return 0;
}

int beside(uint32_t n_cores, svc::CoreUse use, int n_others, int n_steps) {
    svc::CoreArbiter arbiter(n_cores);
    const auto end = svc::Clock::now() + std::chrono::milliseconds(600);
    std::atomic<int> n_turns{0};
    std::vector<std::thread> others;
    for (int i = 0; i < n_others; i++) {
        others.emplace_back([&] {
            svc::CoreArbiter::Member member(2, arbiter);
            for (; svc::Clock::now() < end; n_turns++) {
                const svc::CoreGrant grant(member, use);
                sleep_ms(5);
            }
        });
    }
    svc::CoreArbiter::Member member(2, arbiter);
    double longest_ms = 0;
    int n_done = 0;
    for (; n_done < n_steps && svc::Clock::now() < end; n_done++) {
        const auto begin = svc::Clock::now();
        {
            const svc::CoreGrant grant(member);
            longest_ms = std::max(longest_ms, svc::ms_between(begin, svc::Clock::now()));
            sleep_ms(2);
        }
        sleep_ms(1);
    }
    for (auto & other : others) other.join();
    std::printf("steps %d\nturns %d\nlongest %.0f\n", n_done, n_turns.load(), longest_ms);
    return 0;
}

int hog() {
    svc::CoreArbiter arbiter(2);
    svc::CoreArbiter::Member slow(2, arbiter);
    svc::CoreArbiter::Member quick(2, arbiter);
    auto step = std::make_unique<svc::CoreGrant>(slow);
    double waited_ms = 0;
    std::thread other([&] {
        const auto begin = svc::Clock::now();
        const svc::CoreGrant grant(quick);
        waited_ms = svc::ms_between(begin, svc::Clock::now());
    });
    sleep_ms(300);
    step.reset();
    other.join();
    std::printf("waited %.0f\n", waited_ms);
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc > 3 && std::strcmp(argv[1], "share") == 0)
        return share(static_cast<uint32_t>(std::atoi(argv[2])), argc - 3, argv + 3);
    if (argc == 6 && std::strcmp(argv[1], "beside") == 0) {
        const auto use = svc::use_of(std::strcmp(argv[3], "recordings") != 0, svc::CoreUse::kRecording);
        return beside(static_cast<uint32_t>(std::atoi(argv[2])), use, std::atoi(argv[4]), std::atoi(argv[5]));
    }
    if (argc == 2 && std::strcmp(argv[1], "hog") == 0) return hog();
    std::fprintf(stderr, "core-arbiter-test share N_CORES THREADS... | beside N_CORES recordings|background N STEPS | hog\n");
    return 2;
}
