// How many threads compute: all, or fewer while another program wants their cores. A step ends when its last thread does, so one
// thread that has to wait for a core holds up all (8 layers of 512, 8 streams on 2 cores, one of them burnt by another program:
// 388 tok/s with two threads, 605 with one).
//
// The process's involuntary context switches say when to try (188 a second alone, 6,900 beside that program); measured steps
// decide. Engine thread only.
#pragma once

#include <cstdint>
#include <functional>

#include "clock.h"

namespace svc {

class ThreadChoice {
  public:
    // `count_switches`: involuntary context switches of the process so far.
    ThreadChoice(int32_t n_most, std::function<uint64_t()> count_switches);

    int32_t n_threads() const { return n_threads_; }
    // Feeds a step that ended now: its time, and its rows when it did nothing but decode, or else 0.
    void observe(double ms, uint32_t n_rows, Clock::time_point now);

  private:
    void start_over(Clock::time_point now);
    void look_around(Clock::time_point now);
    void attempt(int32_t n_threads);
    void judge(Clock::time_point now);

    const int32_t n_most_;
    const std::function<uint64_t()> count_switches_;
    int32_t n_threads_;

    // Steps of one width that were measured in a row.
    uint32_t n_rows_ = 0;
    uint32_t n_steps_ = 0;
    double mean_ms_ = 0;

    // While another number is tried: what it is compared with.
    int32_t n_before_ = 0;  // 0: none is tried
    double before_ms_ = 0;

    uint64_t n_switches_ = 0;
    Clock::time_point counted_{};  // when they were
    Clock::time_point next_try_{};
    Clock::time_point judged_{};
    Clock::duration pause_;  // until the next try, if this one fails
    Clock::time_point last_step_{};
};

// Of this process; 0 where the system does not tell.
uint64_t count_involuntary_switches();

}  // namespace svc
