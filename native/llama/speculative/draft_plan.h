// Chooses how many drafted tokens each sequence of a step gets, so that the step yields the most tokens per millisecond, and no
// sequence falls below a share of the pace that it has without drafts: one that drafts nothing pays for the rows of others.
#pragma once

#include <cstdint>
#include <vector>

#include "step_cost.h"

namespace svc {

// One decoding sequence, as the plan sees it.
struct DraftCandidate {
    int32_t sequence = 0;     // id
    bool is_padding = false;  // a row that closes a gap between ids and yields no token
    // Probability that the first, the first two, ... drafted tokens are all right; as many as may be drafted.
    std::vector<double> chances;
    bool from_model = false;
    uint32_t n_chosen = 0;
};

// Sequences that decode, which is how many tokens a step without drafts yields.
uint32_t n_sequences_of(const std::vector<DraftCandidate> & candidates);

// How llama.cpp cuts a batch into passes over the weights.
enum class Passes {
    One,    // one buffer for all sequences: everything at once
    Equal,  // per-sequence KV: neighbours together, as many tokens of each as the shortest has, the rest in further passes
};

// Rows of each pass of a step in which the sequences have 1 + n_chosen rows; candidates come in the order of sequence ids.
std::vector<uint32_t> passes_of(const std::vector<DraftCandidate> & candidates, Passes kind);

// What plan_drafts() goes by.
struct DraftPrices {
    const StepCost & cost;
    Passes passes;
    double ms_per_model_token;  // one round of the draft model
    double plain_ms;            // the step without drafts
};

// Sets n_chosen of every candidate; returns how many rows are drafted. `n_most_rows`: of all sequences together.
uint32_t plan_drafts(std::vector<DraftCandidate> & candidates, const DraftPrices & prices, uint32_t n_most_rows);

}  // namespace svc
