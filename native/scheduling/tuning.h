// The constants of what the addons share, written as those of native/llama/tuning/tuning.h are: what more of it buys and what it
// costs, then what shows that.
#pragma once

#include <chrono>
#include <cstddef>

namespace svc {

struct SchedulingTuning {
    using Ms = std::chrono::milliseconds;

    // --- Who has the cores (core_arbiter.h, compute_contention.h).
    // fairness of contexts side by side : chunks short for nobody. tenants, 2c
    Ms contention_memory{200};
    // steps that do not run side by side : gaps beside a slow context. tenants, 2c
    Ms most_turn_wait{30};
    // the cores while an answer is made : how long answers wait for recordings, beside. media, 2c; for work that nobody waits
    // for. ingest, 2c
    int turns_between_recordings = 3;
    int turns_between_background = 4;
    // those shares for turns that take seconds : one turn that stood still, as in a frozen machine, bars no later one for long.
    // chosen
    Ms most_rest{10'000};
    // answers at full speed : the cores between their steps. ingest, 2c
    Ms pause_to_yield_to{3};
    // fewer trials : how much waiting for cores counts. contention, 2c
    double contended_share = 0.1;
    // the same where OpenMP computes. contention, 2c
    double contended_switches_per_s = 2500;

    // --- Whose turn it is (fair_queue.h, tenant_shares.h).
    // how long a tenant's share is remembered : memory. chosen
    size_t most_tenants = 4096;
    // steadiness of what a tenant's first answer is charged in advance : its truth. chosen
    double first_answer_tokens = 64;
};

inline constexpr SchedulingTuning kSchedulingTuning{};

}  // namespace svc
