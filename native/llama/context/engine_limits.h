// What automatic options of a context came to.
#pragma once

#include <cstdint>
#include <memory>

#include "../../scheduling/core_arbiter.h"
#include "../model/memory_use.h"

namespace svc {

struct EngineLimits {
    uint32_t n_ctx = 0;
    uint32_t n_ctx_per_job = 0;
    uint32_t n_parallel = 0;
    int32_t n_threads = 0;
    MemoryUse memory;   // KV cache and buffers
    MemoryUse weights;  // of the model, as they lie in memory
};

// A place in the turns for a context that computes on the host's cores.
std::unique_ptr<CoreArbiter::Member> join_core_arbitration(const EngineLimits & limits);

}  // namespace svc
