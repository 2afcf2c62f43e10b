// What one row of logits came to.
#pragma once

#include <optional>

#include "../output/answer.h"
#include "llama.h"

namespace svc {

struct SampledRow {
    llama_token token = LLAMA_TOKEN_NULL;
    std::optional<TokenLogprobs> logprobs;
};

}  // namespace svc
