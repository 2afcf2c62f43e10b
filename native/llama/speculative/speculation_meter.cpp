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
        plan_drafts(candidates, {cost_, passes_, ms_per_model_token_, plain_ms(candidates)}, most_rows(candidates.size()));
    }
    uint32_t n_rows = 0;
    for (const auto & candidate : candidates) n_rows += candidate.n_chosen;
    return n_rows;
}

bool SpeculationMeter::may_draft(const std::vector<DraftCandidate> & candidates) const {
    const bool has_neighbour = std::any_of(candidates.begin(), candidates.end(), [](const auto & candidate) {
        return !candidate.is_padding && candidate.chances.empty();
    });
    const uint32_t n_to_plain = has_neighbour ? kTuning.shared_steps_to_plain : kTuning.steps_to_plain;
    if (allowance_ms_ <= 0 || n_since_clean_ >= n_to_plain) return false;
    if (std::all_of(candidates.begin(), candidates.end(), [](const auto & candidate) { return candidate.chances.empty(); }))
        return false;
    const auto passes = plain_passes(candidates);
    return std::all_of(passes.begin(), passes.end(), [this](uint32_t rows) { return cost_.is_known(rows); });
}

std::vector<uint32_t> SpeculationMeter::plain_passes(std::vector<DraftCandidate> candidates) const {
    for (auto & candidate : candidates) candidate.n_chosen = 0;
    return passes_of(candidates, passes_);
}

double SpeculationMeter::cost_of(const std::vector<uint32_t> & passes) const {
    double ms = 0;
    for (auto rows : passes) ms += cost_.of(rows);
    return ms;
}

double SpeculationMeter::plain_ms(const std::vector<DraftCandidate> & candidates) const {
    const auto passes = plain_passes(candidates);
    if (!plain_step_ms_.is_known()) return cost_of(passes);
    const double costs_then = cost_of(plain_step_passes_);
    const double now = plain_step_ms_.value();
    return passes == plain_step_passes_ || costs_then <= 0 ? now : now * cost_of(passes) / costs_then;
}

void SpeculationMeter::observe_plain(const std::vector<DraftCandidate> & candidates, double ms) {
    auto passes = plain_passes(candidates);
    if (passes != plain_step_passes_) plain_step_ms_ = {};
    plain_step_ms_.observe(ms);
    plain_step_passes_ = std::move(passes);
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
    if (is_clean) observe_plain(candidates, ms - drafting_ms);
    const double plain = plain_ms(candidates);
    const double gained_ms = plain * n_tokens / n_sequences_of(candidates) - ms;
    if (!started_) allowance_ms_ = kTuning.first_allowance_steps * plain;
    started_ = true;
    allowance_ms_ += is_clean ? kTuning.draft_allowance * ms - drafting_ms : gained_ms;
    allowance_ms_ = std::min(allowance_ms_, kTuning.most_allowance_steps * plain);
}

bool SpeculationMeter::model_pays() const {
    if (mode_ == SpeculationMode::Always || cost_.n_known() == 0) return true;
    std::vector<DraftCandidate> candidates(1);
    candidates[0].from_model = true;
    const double probability = prior(DraftKind::Model);
    double chance = 1;
    while (candidates[0].chances.size() < kTuning.typical_draft) candidates[0].chances.push_back(chance *= probability);
    return plan_drafts(candidates, {cost_, passes_, ms_per_model_token_, plain_ms(candidates)}, kTuning.typical_draft) > 0;
}

void SpeculationMeter::observe_model(uint32_t n_rounds, double ms) {
    if (n_rounds == 0) return;
    const double fresh = ms / n_rounds;
    ms_per_model_token_ = ms_per_model_token_ <= 0 ? fresh : 0.8 * ms_per_model_token_ + 0.2 * fresh;
}

}  // namespace svc
