#include "thread_choice.h"

#include <algorithm>
#include <utility>

#include "../tuning/tuning.h"

namespace svc {

ThreadChoice::ThreadChoice(int32_t n_most, std::function<bool()> is_contended)
    : n_most_(std::max(1, n_most)),
      is_contended_(std::move(is_contended)),
      n_threads_(n_most_),
      pause_(kTuning.first_trial_pause) {}

void ThreadChoice::observe(double ms, uint32_t n_rows, Clock::time_point now) {
    if (n_most_ < 2) return;
    const bool is_stale = n_threads_ < n_most_ && n_before_ == 0 && now - judged_ > kTuning.longest_unjudged;
    if (is_stale || now - last_step_ > kTuning.forgotten_after) start_over(now);
    last_step_ = now;
    if (n_rows == 0 || n_rows != n_rows_) {
        n_rows_ = n_rows;
        n_steps_ = 0;
        // Nothing can be compared any more.
        if (n_before_ > 0) n_threads_ = std::exchange(n_before_, 0);
        next_try_ = std::max(next_try_, now + kTuning.pause_after_prompt);
        return;
    }
    n_steps_++;
    const uint32_t n_counted = n_steps_ > kTuning.settling_steps ? n_steps_ - kTuning.settling_steps : 0;
    if (n_counted == 0) return;
    mean_ms_ += (ms - mean_ms_) / std::min(n_counted, kTuning.compared_steps);
    if (n_counted < kTuning.compared_steps) return;
    if (n_before_ > 0) judge(now);
    else if (now - looked_ >= kTuning.contention_look) look_around(now);
}

// After a rest nothing is known of others.
void ThreadChoice::start_over(Clock::time_point now) {
    n_threads_ = n_most_;
    n_before_ = 0;
    n_rows_ = 0;
    is_contended_();
    looked_ = now;
    next_try_ = now;
    pause_ = kTuning.first_trial_pause;
}

void ThreadChoice::look_around(Clock::time_point now) {
    const bool is_contended = is_contended_();
    looked_ = now;
    if (now < next_try_) return;
    if (is_contended && n_threads_ > 1) attempt(n_threads_ - 1);
    else if (n_threads_ < n_most_) attempt(n_threads_ + 1);
}

void ThreadChoice::attempt(int32_t n_threads) {
    n_before_ = n_threads_;
    before_ms_ = mean_ms_;
    n_threads_ = n_threads;
    n_steps_ = 0;
}

void ThreadChoice::judge(Clock::time_point now) {
    judged_ = now;
    const bool is_better = mean_ms_ < kTuning.worthwhile * before_ms_;
    if (is_better) {
        pause_ = kTuning.first_trial_pause;
    } else {
        n_threads_ = n_before_;
        n_steps_ = 0;
        pause_ = std::min<Clock::duration>(2 * pause_,
                                           n_threads_ < n_most_ ? kTuning.longest_without_all : kTuning.longest_trial_pause);
    }
    n_before_ = 0;
    next_try_ = now + pause_;
    is_contended_();
    looked_ = now;
}

}  // namespace svc
