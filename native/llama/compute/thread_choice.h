// How many threads compute: all, or fewer while another program wants their cores. A step ends when its last thread does, so one
// thread that has to wait for a core holds up all (8 layers of 512, 8 streams on 2 cores, one of them burnt by another program:
// 388 tok/s with two threads, 605 with one).
//
// Contention for the cores (native/scheduling/compute_contention.h) says when to try; measured steps decide. Engine thread only.
#pragma once

#include <cstdint>
#include <functional>

#include "../../common/clock.h"

namespace svc {

class ThreadChoice {
  public:
    // `is_contended`: whether others have wanted the cores since it was asked last.
    ThreadChoice(int32_t n_most, std::function<bool()> is_contended);

    int32_t n_threads() const { return n_threads_; }
    // Feeds a step that ended now: its time, and its rows when it did nothing but decode, or else 0.
    void observe(double ms, uint32_t n_rows, Clock::time_point now);

  private:
    void start_over(Clock::time_point now);
    void look_around(Clock::time_point now);
    void attempt(int32_t n_threads);
    void judge(Clock::time_point now);

    const int32_t n_most_;
    const std::function<bool()> is_contended_;
    int32_t n_threads_;

    // Steps of one width that were measured in a row.
    uint32_t n_rows_ = 0;
    uint32_t n_steps_ = 0;
    double mean_ms_ = 0;

    // They are what another number is compared with while it is tried.
    int32_t n_before_ = 0;  // 0: none is tried
    double before_ms_ = 0;

    Clock::time_point looked_{};  // for contention
    Clock::time_point next_try_{};
    Clock::time_point judged_{};
    Clock::duration pause_;  // until the next try, if this one fails
    Clock::time_point last_step_{};
};

}  // namespace svc
