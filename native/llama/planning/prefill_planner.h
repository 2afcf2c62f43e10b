// How many tokens of which prompts a step takes, for step_planner.h: pure functions of the load and of what the engine believes
// about its machine.
//
// Counted in units of the hardware: the tile of ggml's attention, below which rows cost several times as much, and the physical
// batch, with which computing is best. Nobody is kept waiting: a physical batch. Somebody is (sequences decode, or another
// context wants the cores): whole tiles, as many as the time allows that they may be held up for, and at least one unless less
// is left. gap_bound_ms() is what a step may come to by that.
#pragma once

#include <cstdint>
#include <vector>

#include "step_estimates.h"

namespace svc {

// A prompt that could go on.
struct PromptAhead {
    size_t n_left = 0;        // tokens up to its end or to an image
    size_t depth = 0;         // tokens in front of them
    double n_waited = 0;      // tokens of prompts that were evaluated since it was admitted
    uint32_t n_siblings = 0;  // other sequences that its tenant runs
};

struct StepLoad {
    uint32_t n_decoding = 0;    // sequences that decode in this step
    uint32_t n_rows = 0;        // their rows, with drafts
    uint32_t n_free_rows = 0;   // that the batch has left
    uint32_t n_physical = 0;    // rows of a physical batch
    bool is_contended = false;  // other contexts want the cores
    bool is_kv_unified = false;
    bool in_burst = false;  // as the last plan left it
};

struct PrefillPlan {
    std::vector<uint32_t> n_tokens;  // of each prompt
    bool in_burst = false;           // for the next step's load
};

// Indices in the order in which prompts go on: the shortest first, with ageing, so that long ones are not starved, and those of
// tenants that run much later.
std::vector<size_t> rank_prompts(const std::vector<PromptAhead> & prompts);

// The prompts come in the order of their ranks.
PrefillPlan plan_prefill(const std::vector<PromptAhead> & prompts, const StepLoad & load, const StepEstimates & estimates);

// The longest that a step with sequences that decode is meant to take, where decoding alone takes decode_ms and a tile tile_ms
// more.
double gap_bound_ms(double decode_ms, double tile_ms);

}  // namespace svc
