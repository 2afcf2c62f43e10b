// Reductions over one row of logits. They run once or more for every token, so they are written for vector units.
#pragma once

#include <cstdint>
#include <vector>

#include "llama.h"

namespace svc {

// The k largest logits, largest first; k is at most n.
void top_logits(const float * logits, int32_t n, int32_t k, std::vector<llama_token_data> & top);

// Index of the largest logit; the first of equals.
llama_token argmax(const float * logits, int32_t n);

// ln(sum(exp(logits))), to about 1e-6 relative. `largest` is the largest of them.
float log_sum_exp(const float * logits, int32_t n, float largest);

}  // namespace svc
