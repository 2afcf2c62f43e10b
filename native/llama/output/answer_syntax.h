// How the raw text of an answer becomes content, reasoning and tool calls: found when its prompt is rendered.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "answer_field.h"
#include "chat.h"

namespace svc {

struct AnswerSyntax {
    // Text passes through as content; otherwise `parser` reads it.
    bool plain = true;
    common_chat_parser_params parser;
    std::optional<FieldRules> fields;
    // Where the answer is either calls or a text that follows a schema: what calls begin with. Any other answer passes through.
    std::vector<std::string> call_begins;
    // The answer ends after its first tool call.
    bool single_call = false;
    // Special tokens whose text the parser needs.
    std::set<llama_token> preserved;
};

}  // namespace svc
