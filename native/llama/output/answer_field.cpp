#include "answer_field.h"

#include <algorithm>
#include <set>

#include "../text/text.h"
#include "chat-peg-parser.h"

namespace svc {

namespace {

using Builder = common_chat_peg_builder;
using Id = common_peg_parser_id;

template <typename Parser> const Parser * as(const common_peg_arena & arena, Id id) {
    return std::get_if<Parser>(&arena.get(id));
}

// The parser that this one only wraps, or COMMON_PEG_INVALID_PARSER_ID.
Id wrapped(const common_peg_arena & arena, Id id) {
    if (const auto * p = as<common_peg_rule_parser>(arena, id)) return p->child;
    if (const auto * p = as<common_peg_ref_parser>(arena, id)) return arena.get_rule(p->name);
    if (const auto * p = as<common_peg_atomic_parser>(arena, id)) return p->child;
    if (const auto * p = as<common_peg_gbnf_parser>(arena, id)) return p->child;
    if (const auto * p = as<common_peg_schema_parser>(arena, id)) return p->child;
    return COMMON_PEG_INVALID_PARSER_ID;
}

bool only_looks(const common_peg_arena & arena, Id id) {
    return as<common_peg_not_parser>(arena, id) || as<common_peg_and_parser>(arena, id) || as<common_peg_any_parser>(arena, id);
}

// Whether this matches any text up to a delimiter.
bool runs_to_delimiter(const common_peg_arena & arena, Id id) {
    for (Id inner; (inner = wrapped(arena, id)) != COMMON_PEG_INVALID_PARSER_ID;) id = inner;
    if (as<common_peg_until_parser>(arena, id)) return true;
    const auto * sequence = as<common_peg_sequence_parser>(arena, id);
    if (!sequence || sequence->children.empty()) return false;
    for (size_t i = 0; i + 1 < sequence->children.size(); i++) {
        if (!only_looks(arena, sequence->children[i])) return false;
    }
    return runs_to_delimiter(arena, sequence->children.back());
}

// Whether arguments are put together from parts, or end where some delimiter stands.
bool is_composed(const common_peg_arena & arena, Id id, std::set<Id> & seen) {
    if (!seen.insert(id).second) return false;
    if (as<common_peg_tag_parser>(arena, id) || as<common_peg_until_parser>(arena, id)) return true;
    if (const Id inner = wrapped(arena, id); inner != COMMON_PEG_INVALID_PARSER_ID) return is_composed(arena, inner, seen);
    auto any_of = [&](const std::vector<Id> & children) {
        for (Id child : children) {
            if (is_composed(arena, child, seen)) return true;
        }
        return false;
    };
    if (const auto * p = as<common_peg_sequence_parser>(arena, id)) return any_of(p->children);
    if (const auto * p = as<common_peg_choice_parser>(arena, id)) return any_of(p->children);
    if (const auto * p = as<common_peg_repetition_parser>(arena, id)) return is_composed(arena, p->child, seen);
    if (const auto * p = as<common_peg_ac_parser>(arena, id)) return is_composed(arena, p->child, seen);
    return false;
}

std::vector<std::string> all_delimiters(const common_peg_arena & arena) {
    std::set<std::string> delimiters;
    for (Id id = 0; id < arena.size(); id++) {
        const auto * until = as<common_peg_until_parser>(arena, id);
        if (!until) continue;
        for (const auto & delimiter : until->delimiters) {
            if (!delimiter.empty()) delimiters.insert(delimiter);
        }
    }
    return {delimiters.begin(), delimiters.end()};
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string_view without_trailing_space(std::string_view text) {
    const size_t last = text.find_last_not_of(" \t\n\v\f\r");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// llama.cpp writes a tagged string into JSON arguments so.
std::string escaped(std::string_view text) {
    if (!is_utf8(text)) return "";
    const auto quoted = common_json(std::string(text)).dump();
    return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

FieldRules::FieldRules(const common_peg_arena & parser) : delimiters(all_delimiters(parser)) {
    for (Id id = 0; id < parser.size(); id++) {
        const auto * tag = as<common_peg_tag_parser>(parser, id);
        if (!tag) continue;
        if (tag->tag == Builder::CONTENT) content = content && runs_to_delimiter(parser, tag->child);
        if (tag->tag == Builder::REASONING) reasoning = reasoning && runs_to_delimiter(parser, tag->child);
        if (tag->tag == Builder::TOOL_ARG_STRING_VALUE) string_values = string_values && runs_to_delimiter(parser, tag->child);
        std::set<Id> seen;
        if (tag->tag == Builder::TOOL_ARGS) json_arguments = json_arguments && !is_composed(parser, tag->child, seen);
    }
}

std::optional<AnswerField> AnswerField::find(const FieldRules & rules, const common_peg_parse_context & context,
                                             const common_peg_parse_result & result, const common_chat_msg & message,
                                             size_t n_text) {
    std::optional<AnswerField> field;
    const std::string arguments = message.tool_calls.empty() ? "" : message.tool_calls.back().arguments;
    const size_t n_given = context.input.size() - n_text;  // what the template wrote of the answer
    context.ast.visit(result, [&](const common_peg_ast_node & node) {
        if (!node.is_partial || node.end != context.input.size() || node.text.empty() || !node.invalid_utf8.empty()) return;
        if (node.tag == Builder::CONTENT && rules.content && ends_with(message.content, node.text)) {
            field = AnswerField(Kind::Content, n_text);
        } else if (node.tag == Builder::REASONING && rules.reasoning && ends_with(message.reasoning_content, node.text)) {
            field = AnswerField(Kind::Reasoning, n_text);
        } else if (node.tag == Builder::TOOL_ARG_STRING_VALUE && rules.string_values && !arguments.empty() &&
                   ends_with(arguments, escaped(node.text))) {
            field = AnswerField(Kind::StringValue, n_text);
        } else if (node.tag == Builder::TOOL_ARGS && rules.json_arguments && node.start >= n_given && !arguments.empty() &&
                   arguments == without_trailing_space(node.text)) {
            AnswerField json(Kind::JsonArguments, node.start - n_given + arguments.size());
            if (json.begin_json(node.text, n_text)) field = json;
        }
    });
    return field;
}

bool AnswerField::begin_json(std::string_view node, size_t n_text) {
    begin_ = n_text - node.size();
    n_scanned_ = n_text;
    return scanner_.read(node) == JsonScanner::State::Open;
}

bool AnswerField::read(const FieldRules & rules, std::string_view text, std::string & added) {
    size_t n_safe = 0;
    if (kind_ == Kind::JsonArguments) {
        if (scanner_.read(text.substr(n_scanned_)) != JsonScanner::State::Open) return false;
        n_scanned_ = text.size();
        n_safe = begin_ + scanner_.n_settled();
    } else {
        StopSearch::Match match;
        if (rules.delimiters.find(text, n_passed_ - std::min(n_passed_, rules.delimiters.reach()), match)) return false;
        n_safe = text.size() - rules.delimiters.held_back(text);
    }
    if (n_safe <= n_passed_) return true;
    const auto fresh = text.substr(n_passed_, n_safe - n_passed_);
    if (!is_utf8(fresh)) return false;
    added = kind_ == Kind::StringValue ? escaped(fresh) : std::string(fresh);
    n_passed_ = n_safe;
    return true;
}

common_chat_msg_diff AnswerField::append(common_chat_msg & message, const std::string & added) const {
    common_chat_msg_diff diff;
    if (kind_ == Kind::Content) {
        message.content += added;
        diff.content_delta = added;
    } else if (kind_ == Kind::Reasoning) {
        message.reasoning_content += added;
        diff.reasoning_content_delta = added;
    } else {
        message.tool_calls.back().arguments += added;
        diff.tool_call_index = message.tool_calls.size() - 1;
        diff.tool_call_delta.arguments = added;
    }
    return diff;
}

}  // namespace svc
