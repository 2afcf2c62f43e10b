// Turns engine options into context parameters: what is automatic is decided here, from the model and the machine.
#pragma once

#include "../kv/sequences.h"
#include "../options/options.h"
#include "llama.h"

namespace svc {

class Model;

struct ContextPlan {
    llama_context_params params;
    uint32_t n_parallel;
    uint32_t n_sequences;   // parallel ones and those that only keep a cached prefix
    uint32_t n_draft_rows;  // most drafted tokens that one step verifies; 0: no speculative decoding
    Sharing sharing;
};

ContextPlan plan_generation(const Model & model, const EngineOptions & options);

// What generation and embedding have in common: threads, attention, positions, where the cache lies.
void apply_options(llama_context_params & params, const EngineOptions & options);

// Tokens that the model can look back on, by its training and by how its positions are stretched.
uint32_t n_ctx_usable(const Model & model, const EngineOptions & options);

// Compute threads when the option says automatic.
int32_t automatic_threads();

}  // namespace svc
