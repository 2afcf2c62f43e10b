// compute-team-test regions: several threads lead teams of changing size at once, with barriers and singles in each region.
// Prints
//   how many regions went wrong.
// compute-team-test beside N_BURNERS MS: barriers for so long while as many threads burn CPU. Prints how many, the time that a
// thread
//   polls at the end, and the share of the time that the team's threads stood in run queues.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "../../llama-cpp/compute_team.h"

extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();

namespace {

constexpr int kMost = 5;

// Each thread writes, all meet, each reads what all wrote.
bool region(int n_wanted, int round) {
    int written[kMost] = {};
    std::atomic<int> n_threads{0};
    std::atomic<int> n_singles{0};
    std::atomic<int> n_wrong{0};
#pragma omp parallel num_threads(n_wanted)
    {
#pragma omp single
        {
            n_singles++;
            n_threads = omp_get_num_threads();
        }
        written[omp_get_thread_num()] = round;
#pragma omp barrier
        int sum = 0;
        for (int i = 0; i < n_threads; i++) sum += written[i];
        if (sum != round * n_threads) n_wrong++;
#pragma omp barrier
#pragma omp single
        n_singles++;
    }
    return n_threads == n_wanted && n_singles == 2 && n_wrong == 0;
}

int check_regions() {
    constexpr int kLeaders = 3;
    constexpr int kRegions = 1000;
    std::atomic<int> n_wrong{0};
    std::vector<std::thread> leaders;
    for (int seed = 0; seed < kLeaders; seed++) {
        leaders.emplace_back([&, seed] {
            for (int i = 1; i <= kRegions; i++) n_wrong += !region(1 + (seed + i) % kMost, i);
        });
    }
    for (auto & leader : leaders) leader.join();
    std::printf("wrong %d\n", n_wrong.load());
    return 0;
}

int run_beside(int n_burners, int ms) {
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> is_over{false};
    std::vector<std::thread> burners;
    for (int i = 0; i < n_burners; i++) {
        burners.emplace_back([&] {
            while (!is_over) {
            }
        });
    }
    const auto until = Clock::now() + std::chrono::milliseconds(ms);
    std::atomic<long> n_barriers{0};
    while (Clock::now() < until) {
#pragma omp parallel num_threads(2)
        for (int i = 0; i < 100; i++) {
            volatile int work = 0;
            for (int k = 0; k < 5000; k++) work = work + 1;
#pragma omp barrier
            n_barriers++;
        }
    }
    is_over = true;
    for (auto & burner : burners) burner.join();
    const auto state = svc_compute_team_state_of_caller();
    std::printf("barriers %ld\npoll_us %.1f\nqueued %.4f\nthreads %u\n", n_barriers.load(), state.poll_us, state.queued_share,
                state.n_threads);
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc == 2 && std::strcmp(argv[1], "regions") == 0) return check_regions();
    if (argc == 4 && std::strcmp(argv[1], "beside") == 0) return run_beside(std::atoi(argv[2]), std::atoi(argv[3]));
    std::fprintf(stderr, "compute-team-test regions | beside N_BURNERS MS\n");
    return 2;
}
