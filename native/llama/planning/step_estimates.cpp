#include "step_estimates.h"

#include <algorithm>
#include <cmath>

#include "../tuning/tuning.h"

namespace svc {

void StepEstimates::observe(const Step & step) {
    if (!(step.ms > 0)) return;
    if (step.n_prefill > 0) observe_rows(step);
    else if (step.n_decoding > 0) observe_decode(step.ms);
}

void StepEstimates::observe_decode(double ms) {
    n_since_decode_ = 0;
    if (Estimate::is_large(decode_ms_.observe(ms))) probe_after_ = 1;
    else probe_after_ = std::min(2 * probe_after_, kTuning.last_probe_steps);
}

void StepEstimates::observe_rows(const Step & step) {
    if (step.n_decoding > 0) {
        n_since_decode_++;
        n_since_variation_ = is_variation_due() ? 0 : n_since_variation_ + 1;
        is_variation_ = n_since_variation_ == 0;
        // With prompts, a step takes no less than without.
        decode_ms_.lower_to(step.ms);
    }
    const double decode_ms = step.n_decoding > 0 ? decode_ms_.value() : 0;
    const double all_ms = std::max(step.ms - decode_ms, kTuning.least_prefill_share * step.ms);
    const double n_rows = step.n_prefill;
    // Less than a tile, with the rows of streams, costs up to a whole one, which says nothing about a chunk. Nobody takes so few
    // but what is left of a prompt: an estimate that is wrong is not kept alive by that.
    if (!is_known() || n_rows + step.n_decoding >= kTuning.tile_rows) learn_row(all_ms / n_rows, step.depth);
}

void StepEstimates::learn_row(double ms, double depth) {
    const double surprise = row_.observe(ms, depth);
    // What holds for chunks of one size and not for another is wrong about what is theirs and what is decoding's.
    if (Estimate::is_large(surprise) || (is_variation_ && std::abs(surprise) > kTuning.suspicious_surprise))
        probe_after_ = std::min(probe_after_, kTuning.first_probe_steps);
}

}  // namespace svc
