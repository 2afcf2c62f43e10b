// Decides step by step whether drafting pays, from what steps cost and how often drafts hit.
//
// Two guards, unless drafts are always wanted. The plan: drafts are verified only where measured costs and chances promise more
// tokens per millisecond. The allowance: whatever the estimates say, time lost to rejected drafts is paid from an account that
// fills with a share of the time of steps without drafts, and with what drafts gained; looking for drafts, and
// steps that drafts before them make slower, are paid from it, too. So drafts that never hit cost a stream less than 2 % of its
// throughput.
#pragma once

#include <cstdint>
#include <vector>

#include "../../common/estimate.h"
#include "../options/speculation_mode.h"
#include "../tuning/tuning.h"
#include "acceptance.h"
#include "draft_plan.h"
#include "step_cost.h"

namespace svc {

class SpeculationMeter {
  public:
    SpeculationMeter(SpeculationMode mode, Passes passes, uint32_t n_most_rows, uint32_t n_most_drafted);

    // Sets n_chosen of every candidate; returns the sum.
    uint32_t plan(std::vector<DraftCandidate> & candidates);
    // Feeds a step of decoding sequences alone that sampled n_tokens. `ms` includes what drafting took, that is drafting_ms.
    void observe(const std::vector<DraftCandidate> & candidates, uint32_t n_tokens, double ms, double drafting_ms);
    // Feeds the draft model's time for so many rounds.
    void observe_model(uint32_t n_rounds, double ms);

    // What all sequences together saw: where a new one begins.
    Acceptance & acceptance() { return acceptance_; }
    double prior(DraftKind kind) const { return acceptance_.probability(kind, kTuning.first_draft_chance); }
    // Below it, a guess is worth no row.
    double least_chance() const { return mode_ == SpeculationMode::Always ? 0 : kTuning.least_draft_chance; }
    // The same for the draft model's own opinion.
    double least_confidence() const { return mode_ == SpeculationMode::Always ? 0 : kTuning.least_draft_confidence; }
    // Decoding time that may still be lost to drafts; below 0 none is drafted.
    double allowance_ms() const { return allowance_ms_; }
    // Whether drafts of the draft model would be verified, going by what all sequences together saw.
    bool model_pays() const;

  private:
    void choose_most(std::vector<DraftCandidate> & candidates) const;
    bool may_draft(const std::vector<DraftCandidate> & candidates) const;
    std::vector<uint32_t> plain_passes(std::vector<DraftCandidate> candidates) const;
    // What a step without drafts takes: as such steps took lately, or where these had other sequences, as they differ by the
    // costs.
    double plain_ms(const std::vector<DraftCandidate> & candidates) const;
    double cost_of(const std::vector<uint32_t> & passes) const;
    void observe_plain(const std::vector<DraftCandidate> & candidates, double ms);
    uint32_t most_rows(size_t n_sequences) const;

    SpeculationMode mode_;
    Passes passes_;
    uint32_t n_most_drafted_;
    StepCost cost_;
    Acceptance acceptance_;
    double ms_per_model_token_ = 0;
    // Of plain steps lately. What drafted steps take moves the level of all costs, and is no news of these.
    Estimate plain_step_ms_;
    std::vector<uint32_t> plain_step_passes_;
    double allowance_ms_ = 0;     // that may still be lost
    uint32_t n_since_clean_ = 0;  // steps since a plain one behind a plain one
    bool after_drafts_ = false;
    bool started_ = false;
};

}  // namespace svc
