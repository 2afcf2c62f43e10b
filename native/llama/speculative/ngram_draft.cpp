#include "ngram_draft.h"

#include "speculation_meter.h"

namespace svc {

void NgramDraft::follow(const std::vector<llama_token> & tokens, SpeculationMeter & meter) {
    if (n_scored_ == 0) n_scored_ = tokens.size();
    for (; n_scored_ < tokens.size(); n_scored_++) {
        if (match_.next == 0) continue;
        const bool hit = tokens[match_.next] == tokens[n_scored_];
        const auto kind = kind_of_match(match_.length);
        acceptance_.observe(kind, hit);
        meter.acceptance().observe(kind, hit);
        if (!hit) match_ = {};
        else match_ = {match_.next + 1, match_.length + 1};
    }
    index_.follow(tokens);
    if (match_.next == 0) match_ = index_.find(tokens);
}

std::vector<double> NgramDraft::chances(uint32_t most, const SpeculationMeter & meter) const {
    std::vector<double> chances;
    if (match_.next == 0) return chances;
    double chance = 1;
    while (chances.size() < most) {
        const auto kind = kind_of_match(match_.length + static_cast<uint32_t>(chances.size()));
        chance *= acceptance_.probability(kind, meter.prior(kind));
        if (chance < meter.least_chance()) break;
        chances.push_back(chance);
    }
    return chances;
}

std::vector<llama_token> NgramDraft::draft(const std::vector<llama_token> & tokens, uint32_t count) const {
    std::vector<llama_token> draft;
    if (match_.next == 0) return draft;
    while (draft.size() < count) {
        const size_t from = match_.next + draft.size();
        // Where the earlier place runs into the end, the repetition goes on with itself.
        const auto token = from < tokens.size() ? tokens[from] : draft[from - tokens.size()];
        if (token == LLAMA_TOKEN_NULL) break;
        draft.push_back(token);
    }
    return draft;
}

}  // namespace svc
