// A llama_context with its owner: how contexts are made and warmed.
#pragma once

#include <memory>

#include "batch.h"
#include "llama.h"

namespace svc {

class Model;

struct ContextDeleter {
    void operator()(llama_context * context) const { llama_free(context); }
};
using ContextPtr = std::unique_ptr<llama_context, ContextDeleter>;

// Throws StatusError out_of_memory.
ContextPtr create_context(const Model & model, const llama_context_params & params);

// The first decode touches every page of weights and buffers; better now than under the first request.
void warm_up(const Model & model, llama_context * context, Batch & batch);

}  // namespace svc
