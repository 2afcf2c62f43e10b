// Reads an answer in its chat format while it grows: what each piece of text adds to the message's content, reasoning and tool
// calls. llama.cpp's parser starts at the beginning each time, so it runs only where a field may have begun or ended; in between,
// text is passed on (AnswerField). Where that is not possible, parsing is rationed so that all work stays linear in the answer.
// An answer that is nested too deeply for the parser's recursion is content from there on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer_field.h"
#include "chat.h"
#include "nesting_bound.h"

namespace svc {

class ChatReader {
  public:
    // `parser` and `rules` must outlive the reader.
    ChatReader(const common_chat_parser_params & parser, const FieldRules & rules)
        : parser_(parser), rules_(rules), nesting_(parser.format) {}

    // What `text`, which began with the text given before, adds to the message. A final text that breaks the format is content,
    // as is what follows the last understood content of a text that is nested too deeply.
    std::vector<common_chat_msg_diff> read(std::string_view text, bool final);

    const common_chat_msg & message() const { return message_; }
    // Measurements ask how often the parser ran, and over how many bytes in all.
    size_t n_parses() const { return n_parses_; }
    size_t n_parsed_bytes() const { return n_parsed_bytes_; }

  private:
    std::vector<common_chat_msg_diff> parse(std::string_view text, bool final);
    std::vector<common_chat_msg_diff> rest_as_content(std::string_view text) const;
    common_chat_msg understood(const common_peg_parse_context & context, const common_peg_parse_result & result) const;

    const common_chat_parser_params & parser_;
    const FieldRules & rules_;
    common_chat_msg message_;
    std::vector<std::string> tool_ids_;
    std::optional<AnswerField> field_;
    NestingBound nesting_;
    size_t n_seen_ = 0;
    size_t n_parses_ = 0;
    size_t n_parsed_bytes_ = 0;
};

}  // namespace svc
