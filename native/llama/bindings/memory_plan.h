// What a model will take in memory, found without taking it: llama.cpp plans every buffer of a model that was loaded as a dry
// run.
#pragma once

#include <optional>

#include "../model/memory_use.h"
#include "../options/options.h"

namespace svc {

class Model;

struct MemoryPlan {
    MemoryUse weights;
    // Tokenizer, projector and adapters.
    MemoryUse extras;
    std::optional<MemoryUse> engine;
    std::optional<MemoryUse> embedder;
    // Most tokens of one job, prompt and answer together, and of one text that is embedded; 0: there is no such context.
    uint32_t n_engine_ctx = 0;
    uint32_t n_embedder_ctx = 0;
};

// For a model that was loaded with dry_run. `load` names its projector and adapters. Throws StatusError out_of_memory.
MemoryPlan plan_memory(const Model & model, const EngineOptions & options, const LoadOptions & load);

}  // namespace svc
