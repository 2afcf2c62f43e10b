// From a job's messages, text or tokens to what the engine runs: tokens, grammar, and how to read the answer.
// Runs on a preparing thread; llama.cpp's `common` renders templates and writes the grammars.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../options/options.h"
#include "../output/answer_syntax.h"
#include "../sampling/sampler.h"
#include "media.h"

namespace svc {

class Model;

struct Prompt {
    std::vector<llama_token> tokens;
    // Images and sounds that stand among the tokens as runs of LLAMA_TOKEN_NULL.
    std::vector<MediaChunk> media;
    GrammarSpec grammar;
    std::shared_ptr<const AnswerSyntax> syntax;
    std::vector<std::string> stop;
    std::string text;  // as rendered, for chat prompts
};

// `n_ctx`: tokens that the context holds, one of which is for the answer. Throws StatusError template_failed, invalid_grammar,
// grammar_too_complex, invalid_media, context_length_exceeded, unsupported or invalid_argument, and GrammarLate where the
// GrammarBudget of the calling thread has no room for the conversion of schemas.
Prompt prepare_prompt(const Model & model, const JobOptions & job, uint32_t n_ctx);

}  // namespace svc
