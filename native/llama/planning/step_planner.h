// What the next step's batch holds: pure functions from the state of the generations that could go on to rows.
//
// In two parts, because drafts are made in between (speculation.h), for the sequences that decode: choose_turn() says who takes
// part, plan_step() how many rows each gets and which rows fill the gaps between sequences.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "llama.h"
#include "prefill_planner.h"
#include "step_estimates.h"

namespace svc {

// A generation that could go on.
struct StepCandidate {
    bool is_prefilling = false;  // or it decodes
    bool is_at_image = false;    // what comes next of its prompt is an image, which is evaluated by itself
    bool is_suspect = false;     // an evaluation failed with it
    llama_seq_id sequence = 0;
    std::string_view adapters;  // stands for a set of LoRA adapters
    uint64_t last_turn = 0;     // of that set
    PromptAhead prompt;         // of one that is prefilling
};

struct StepState {
    std::vector<StepCandidate> candidates;  // in the order in which they began
    uint32_t n_batch_rows = 0;
    uint32_t n_physical_rows = 0;  // of a physical batch
    bool is_contended = false;     // other contexts want the cores
    bool is_unified = false;       // sequences share one KV buffer
    bool was_image = false;        // the step before evaluated one
    bool in_burst = false;         // as the step before left it
};

struct StepTurn {
    bool is_empty = true;  // nobody can go on
    std::string_view adapters;
    std::optional<size_t> image;          // the candidate whose image is evaluated, and nothing else
    std::optional<size_t> image_instead;  // the same where plan_step() finds no rows
    // Candidates, in the order of their sequences. Each decodes one row and what is drafted behind it.
    std::vector<size_t> decoding;
    std::vector<size_t> prefilling;  // in the order in which they began
};

struct PlannedRows {
    size_t candidate = 0;
    uint32_t n_rows = 0;
    uint32_t n_padding = 0;  // rows for as many sequences right below its own, which nobody runs
};

struct StepPlan {
    std::vector<PlannedRows> rows;  // in the order of the sequences
    bool in_burst = false;
};

// Adapters apply to a whole batch, so a step serves one set of them: the one that waited longest. A candidate that an evaluation
// failed with is alone in its step, so that no other fails with it. Between two images, streams get a step.
StepTurn choose_turn(const StepState & state);

// `n_decoding_rows`: of each in turn.decoding, with its drafts. `is_filled`: whether rows for the sequences from the first up to
// the second can be had, and cost less than a pass of their own for those behind them.
using IsFilled = std::function<bool(llama_seq_id, llama_seq_id)>;
StepPlan plan_step(const StepState & state, const StepTurn & turn, const std::vector<uint32_t> & n_decoding_rows,
                   const StepEstimates & estimates, const IsFilled & is_filled);

}  // namespace svc
