// What the engine believes a step costs, learned from the steps themselves: decoding alone, and a row of a prompt by its depth.
//
// No belief can keep itself alive. An estimate moves by a factor at most with each step, so that an outlier does little and any
// falsehood is gone after a few steps; each step says something about it, however small its chunk; both estimates are bounded;
// and what decoding alone costs is measured again from time to time where each step has prompts (is_probe_due).
#pragma once

#include <cstdint>

#include "../../common/estimate.h"
#include "../tuning/tuning.h"
#include "row_cost.h"

namespace svc {

class StepEstimates {
  public:
    struct Step {
        double ms;
        uint32_t n_decoding;  // sequences
        uint32_t n_prefill;   // rows of prompts
        double depth;         // tokens in front of these, on average
    };

    void observe(const Step & step);

    // Whether anything is known of prompts.
    bool is_known() const { return row_.is_known(); }
    // A step without prompts takes so long; 0 before the first.
    double decode_ms() const { return decode_ms_.value(); }
    // One more row of a prompt with so many tokens in front of it takes so long; 0 before the first measurement.
    double row_ms(double depth) const { return row_.ms(depth); }
    double rows_ms(double n_rows, double depth) const { return n_rows * row_ms(depth + n_rows / 2); }
    // What a row costs more for each token in front of it.
    double depth_ms() const { return row_.depth_ms(); }
    // So many steps had prompts that one without should tell what decoding costs.
    bool is_probe_due() const { return n_since_decode_ >= (decode_ms_.is_known() ? probe_after_ : 1); }

    // Chunks beside streams were as large as estimates say for so long that one of another size should tell whether these hold
    // there.
    bool is_variation_due() const { return n_since_variation_ >= kTuning.variation_steps; }

  private:
    void observe_decode(double ms);
    void observe_rows(const Step & step);
    void learn_row(double ms, double depth);

    Estimate decode_ms_;
    RowCost row_;
    uint32_t n_since_decode_ = 0;
    uint32_t n_since_variation_ = 0;
    bool is_variation_ = false;  // the last step
    uint32_t probe_after_ = kTuning.first_probe_steps;
};

}  // namespace svc
