// The field of a message (content, reasoning, a call's arguments) that the end of an answer lies in, and how long text that
// follows certainly belongs to it. What ends a field is read off the parser that llama.cpp built for the chat format.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../text/json_scanner.h"
#include "../text/stop_search.h"
#include "chat.h"
#include "peg-parser.h"

namespace svc {

// What a chat format's parser says about its fields. Made once for a format.
struct FieldRules {
    explicit FieldRules(const common_peg_arena & parser);

    // These fields go on until one of the delimiters.
    bool content = true;
    bool reasoning = true;
    bool string_values = true;
    // Arguments are one JSON object, taken as it is.
    bool json_arguments = true;
    // Everything that the format searches for anywhere.
    StopSearch delimiters;
};

class AnswerField {
  public:
    // The field that is open at the end of a parsed text of n_text bytes, where more text can be passed on without parsing.
    static std::optional<AnswerField> find(const FieldRules & rules, const common_peg_parse_context & context,
                                           const common_peg_parse_result & result, const common_chat_msg & message,
                                           size_t n_text);

    // What `text`, which has grown, adds to the field. False when the field may have ended: then only a parser knows, and the
    // field is of no more use.
    bool read(const FieldRules & rules, std::string_view text, std::string & added);
    // Adds to the field in the message and says the same as a diff.
    common_chat_msg_diff append(common_chat_msg & message, const std::string & added) const;

  private:
    enum class Kind { Content, Reasoning, JsonArguments, StringValue };
    AnswerField(Kind kind, size_t n_passed) : kind_(kind), n_passed_(n_passed) {}
    bool begin_json(std::string_view node, size_t n_text);

    Kind kind_;
    size_t n_passed_;   // bytes of the text that are in the message
    size_t begin_ = 0;  // of the JSON object
    size_t n_scanned_ = 0;
    JsonScanner scanner_;
};

}  // namespace svc
