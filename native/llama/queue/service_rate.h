// How many jobs a second the engine completes when it has all the work that it can take. One thread only.
#pragma once

#include <algorithm>
#include <cmath>

#include "../tuning/tuning.h"
#include "job.h"

namespace svc {

class ServiceRate {
  public:
    // After each step. `is_full`: every sequence worked, so that completions since the last call tell the capacity.
    void step(Clock::time_point now, bool is_full) {
        const double seconds = std::chrono::duration<double>(now - last_step_).count();
        if (is_full && was_full_ && seconds > 0) {
            const double kept = std::exp(-seconds / kTuning.rate_memory_s);
            full_seconds_ = full_seconds_ * kept + seconds;
            jobs_ = jobs_ * kept + n_done_;
        }
        n_done_ = 0;
        was_full_ = is_full;
        last_step_ = now;
    }

    // A job ended that was served for so long.
    void job_done(double served_seconds) {
        n_done_++;
        mean_served_seconds_ = n_known_++ == 0 ? served_seconds : 0.9 * mean_served_seconds_ + 0.1 * served_seconds;
    }

    // Zero while nothing is known. While too little was seen of a full engine, an estimate from how long jobs take.
    double per_second(uint32_t n_parallel) const {
        if (full_seconds_ >= kTuning.rate_least_s && jobs_ >= kTuning.rate_least_jobs) return jobs_ / full_seconds_;
        return n_known_ == 0 ? 0 : n_parallel / std::max(1e-4, mean_served_seconds_);
    }

  private:
    Clock::time_point last_step_{};
    bool was_full_ = false;
    double full_seconds_ = 0;
    double jobs_ = 0;
    double n_done_ = 0;
    double mean_served_seconds_ = 0;
    uint64_t n_known_ = 0;
};

}  // namespace svc
