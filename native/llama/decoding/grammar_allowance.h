// What the grammars of one step may take of it, all together: whatever they are, the other sequences wait no longer than that.
#pragma once

#include <algorithm>
#include <atomic>

#include "../../common/clock.h"
#include "../grammar/grammar_budget.h"
#include "../queue/job.h"
#include "../tuning/tuning.h"

namespace svc {

class GrammarAllowance {
  public:
    // Samples a row on the calling thread. False: its grammar took longer than it may, or has to be followed outside of steps.
    template <typename Sample> bool spend(Generation & generation, Sample && sample) {
        if (!generation.sampler->has_grammar()) {
            sample();
            return true;
        }
        if (!generation.pace.may_join_step()) return false;
        const auto begin = Clock::now();
        const double ms = std::min(kTuning.grammar_row_ms, kTuning.sampled_row_ms + left_ms_.load());
        try {
            const GrammarBudget budget(GrammarBudget::Kind::Step, ms);
            sample();
        } catch (const GrammarLate &) {
            took(ms_between(begin, Clock::now()));
            generation.pace.was_late();
            return false;
        }
        took(ms_between(begin, Clock::now()));
        generation.pace.took(ms_between(begin, Clock::now()));
        return true;
    }

  private:
    void took(double ms) {
        const double more_ms = std::max(0.0, ms - kTuning.sampled_row_ms);
        for (double left = left_ms_; !left_ms_.compare_exchange_weak(left, std::max(0.0, left - more_ms));) {
        }
    }

    std::atomic<double> left_ms_{kTuning.grammar_step_ms};
};

}  // namespace svc
