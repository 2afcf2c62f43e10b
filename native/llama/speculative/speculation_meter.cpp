#include "speculation_meter.h"

#include <algorithm>

#include "../tuning/tuning.h"

namespace svc {

SpeculationMeter::SpeculationMeter(SpeculationMode mode, Passes passes, uint32_t n_most_rows, uint32_t n_most_drafted)
    : mode_(mode), passes_(passes), n_most_drafted_(n_most_drafted), cost_(n_most_rows) {}

uint32_t SpeculationMeter::plan(std::vector<DraftCandidate> & candidates) {
    for (auto & candidate : candidates) candidate.n_chosen = 0;
    if (mode_ == SpeculationMode::Off) return 0;
    if (mode_ == SpeculationMode::Always) {
        choose_most(candidates);
    } else if (may_draft(candidates)) {
        plan_drafts(candidates, cost_, passes_, most_rows(candidates.size()), ms_per_model_token_);
    }
    uint32_t n_rows = 0;
    for (const auto & candidate : candidates) n_rows += candidate.n_chosen;
    return n_rows;
}

bool SpeculationMeter::may_draft(const std::vector<DraftCandidate> & candidates) const {
    if (allowance_ms_ <= 0 || n_since_clean_ >= kTuning.steps_to_plain) return false;
    if (std::all_of(candidates.begin(), candidates.end(), [](const auto & candidate) { return candidate.chances.empty(); }))
        return false;
    const auto passes = plain_passes(candidates);
    return std::all_of(passes.begin(), passes.end(), [this](uint32_t rows) { return cost_.is_known(rows); });
}

std::vector<uint32_t> SpeculationMeter::plain_passes(std::vector<DraftCandidate> candidates) const {
    for (auto & candidate : candidates) candidate.n_chosen = 0;
    return passes_of(candidates, passes_);
}

// Unknown widths are approached by doubling, so that a guess that was too good costs little.
uint32_t SpeculationMeter::most_rows(size_t n_sequences) const {
    const auto n_plain = static_cast<uint32_t>(n_sequences);
    const uint32_t n_reach = std::max(2 * cost_.n_known(), n_plain + 1);
    return std::min(n_most_drafted_, n_reach - n_plain);
}

void SpeculationMeter::choose_most(std::vector<DraftCandidate> & candidates) const {
    uint32_t left = n_most_drafted_;
    for (auto & candidate : candidates) {
        candidate.n_chosen = std::min(left, static_cast<uint32_t>(candidate.chances.size()));
        left -= candidate.n_chosen;
    }
}

void SpeculationMeter::observe(const std::vector<DraftCandidate> & candidates, uint32_t n_tokens, double ms, double drafting_ms) {
    if (candidates.empty()) return;
    const bool drafted =
        std::any_of(candidates.begin(), candidates.end(), [](const auto & candidate) { return candidate.n_chosen > 0; });
    // The graph of a step is made anew where the step before had another shape, which plain decoding never pays for.
    const bool is_clean = !drafted && !after_drafts_;
    after_drafts_ = drafted;
    n_since_clean_ = is_clean ? 0 : n_since_clean_ + 1;
    if (drafted || is_clean || !started_) cost_.observe(passes_of(candidates, passes_), ms - drafting_ms);
    double plain_ms = 0;
    for (auto rows : plain_passes(candidates)) plain_ms += cost_.of(rows);
    const double gained_ms = plain_ms * n_tokens / n_sequences_of(candidates) - ms;
    if (!started_) allowance_ms_ = kTuning.first_allowance_steps * plain_ms;
    started_ = true;
    allowance_ms_ += is_clean ? kTuning.draft_allowance * ms - drafting_ms : gained_ms;
    allowance_ms_ = std::min(allowance_ms_, kTuning.most_allowance_steps * plain_ms);
}

bool SpeculationMeter::model_pays() const {
    if (mode_ == SpeculationMode::Always || cost_.n_known() == 0) return true;
    std::vector<DraftCandidate> candidates(1);
    candidates[0].from_model = true;
    const double probability = prior(DraftKind::Model);
    double chance = 1;
    while (candidates[0].chances.size() < kTuning.typical_draft) candidates[0].chances.push_back(chance *= probability);
    return plan_drafts(candidates, cost_, passes_, kTuning.typical_draft, ms_per_model_token_) > 0;
}

void SpeculationMeter::observe_model(uint32_t n_rounds, double ms) {
    if (n_rounds == 0) return;
    const double fresh = ms / n_rounds;
    ms_per_model_token_ = ms_per_model_token_ <= 0 ? fresh : 0.8 * ms_per_model_token_ + 0.2 * fresh;
}

}  // namespace svc
