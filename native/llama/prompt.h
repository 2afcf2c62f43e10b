// From a job's messages, text or tokens to what the engine runs: tokens, grammar, and how to read the answer.
// Runs on the preparing thread; llama.cpp's `common` renders templates and writes the grammars.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "answer_field.h"
#include "chat.h"
#include "media.h"
#include "options.h"
#include "sampler.h"

namespace svc {

class Model;

// How the raw text of an answer becomes content, reasoning and tool calls.
struct AnswerSyntax {
    // Text passes through as content; otherwise `parser` reads it.
    bool plain = true;
    common_chat_parser_params parser;
    std::optional<FieldRules> fields;
    // The answer ends after its first tool call.
    bool single_call = false;
    // Special tokens whose text the parser needs.
    std::set<llama_token> preserved;
};

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
// invalid_media, context_length_exceeded, unsupported or invalid_argument.
Prompt prepare_prompt(const Model & model, const JobOptions & job, uint32_t n_ctx);

}  // namespace svc
