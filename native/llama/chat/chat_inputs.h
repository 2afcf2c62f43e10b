// What callers gave, made ready for the chat template: read within bounds, and unable to end a turn.
#pragma once

#include <string>

#include "../options/options.h"
#include "chat.h"

namespace svc {

class Model;

// Throws StatusError invalid_argument, context_length_exceeded or grammar_too_complex, and GrammarLate.
common_chat_templates_inputs inputs_of(const Model & model, const JobOptions & job, uint32_t n_ctx);

// `what` names the text in the error. Throws StatusError invalid_argument.
common_json parse_json(const std::string & text, const char * what);
// A schema that llama.cpp may turn into a grammar. Throws StatusError, and GrammarLate.
common_json parse_schema(const std::string & text);
// `bound` stands before the number of tokens. Throws StatusError context_length_exceeded.
void check_length(const char * bound, size_t n_tokens, uint32_t n_ctx);

}  // namespace svc
