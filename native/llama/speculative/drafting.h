// What a generation keeps for speculative decoding.
#pragma once

#include <cstdint>
#include <vector>

#include "acceptance.h"
#include "ngram_draft.h"

namespace svc {

struct Drafting {
    NgramDraft ngrams;
    Acceptance model;  // of the draft model's tokens here
    // Whether the draft model reads along; decided once, when decoding begins.
    enum class Model : uint8_t { Undecided, Yes, No } use_model = Model::Undecided;
    // In the running step they are verified behind the generation's next token.
    std::vector<llama_token> tokens;
    bool from_model = false;
    uint32_t n_drafted = 0;
    uint32_t n_accepted = 0;
};

}  // namespace svc
