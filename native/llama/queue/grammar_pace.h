// How the grammar of a generation keeps to the time that a step has for it. One that was late is not tried in a step again before
// it has shown outside that it is quick: twice as often each time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../tuning/tuning.h"

namespace svc {

class GrammarPace {
  public:
    bool may_join_step() const { return n_outside_ == 0; }
    // What a row is expected to take in a step; a step takes the quick ones first.
    double expected_ms() const { return expected_ms_; }
    // Processor time outside of steps, all in all.
    double outside_ms() const { return outside_ms_; }
    // The last row outside took long even for that.
    bool is_slow() const { return last_outside_ms_ >= kTuning.late_row_quick_ms; }

    void took(double ms) {
        expected_ms_ = std::max(ms, 0.7 * expected_ms_);
        if (++n_in_time_ < kTuning.grammar_forgiven_rows) return;
        n_in_time_ = 0;
        penalty_ = 1;
    }
    void was_late() {
        was_late_ = true;
        n_in_time_ = 0;
        n_outside_ = penalty_;
        penalty_ = std::min(2 * penalty_, kTuning.grammar_most_penalty);
    }
    void took_outside(double ms) {
        outside_ms_ += ms;
        last_outside_ms_ = ms;
        if (was_late_ || ms < kTuning.late_row_joins_ms) n_outside_ -= std::min<uint32_t>(n_outside_, 1);
        else n_outside_ = std::max(n_outside_, penalty_);
        was_late_ = false;
    }

  private:
    double expected_ms_ = kTuning.grammar_first_ms;
    double outside_ms_ = 0;
    double last_outside_ms_ = 0;
    bool was_late_ = false;   // the row that is outside now
    uint32_t n_outside_ = 0;  // rows before it joins a step again
    uint32_t penalty_ = 1;    // of the next time that it is late
    uint32_t n_in_time_ = 0;  // rows since
};

}  // namespace svc
