#include "converted_grammar.h"

#include <algorithm>
#include <string_view>

#include "json-schema-to-grammar.h"
#include "json.h"

namespace svc {

namespace {

struct Replacement {
    const char * theirs;
    const char * ours;
};

// The rules of common/json-schema-to-grammar.cpp, word for word.
constexpr Replacement kRules[] = {
    // An exponent of 16 digits is infinite to whoever reads it.
    {R"(("-"? integral-part) ("." decimal-part)? ([eE] [-+]? integral-part)?)",
     R"(("-"? integral-part) ("." decimal-part)? ([eE] [-+]? [0-9]{1,2})?)"},
    // Two surrogates are one character, and one is none.
    {R"([^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4}))",
     R"([^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" ([0-9a-cA-CeEfF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2})))"},
};

// How the converter begins a name that is none of some others, and what it means by their characters.
constexpr std::string_view kOtherName = R"(["] ( )";
constexpr std::string_view kPlain = R"(\\\x7F\x00-\x1F)";

void append_escaped(std::string & to, char c) {
    if (c == '-' || c == '[' || c == ']' || c == '\\') to += '\\';
    to += c;
}

// A class of the converter is its characters as they are. Returns where it ends.
size_t append_class(std::string & to, std::string_view rule, size_t at) {
    const bool is_negated = rule.substr(at, 3) == "[^\"";
    to += is_negated ? "[^\"" : "[";
    if (is_negated) to += kPlain;
    for (at += is_negated ? 3 : 1; at < rule.size() && rule[at] != ']'; at++) append_escaped(to, rule[at]);
    to += ']';
    return at;
}

std::string other_name(std::string_view rule) {
    std::string right;
    for (size_t at = 0; at < rule.size(); at++) {
        if (rule[at] == '[') {
            at = append_class(right, rule, at);
        } else if (rule.substr(at, 5) == " char") {
            const size_t end = rule.find_first_of("+*", at);
            if (end == std::string_view::npos) return std::string(rule);
            right.append(" [^\"").append(kPlain).append("]") += rule[end];
            at = end;
        } else {
            right += rule[at];
        }
    }
    return right;
}

// The literal is JSON, of which quotation marks and backslashes are escaped once more.
std::string marked_grammar(std::string_view rule) {
    std::string text;
    for (size_t at = 1; at + 1 < rule.size(); at++) {
        if (rule[at] == '\\') at++;
        text += rule[at];
    }
    const auto value = common_json::parse(text);
    if (value.size() != 2 || !value.at(1).is_string()) return std::string(rule);
    return "(" + value.at(1).get<std::string>() + ")";
}

std::string right_rule(std::string_view rule) {
    for (const auto & [theirs, ours] : kRules) {
        if (rule == theirs) return ours;
    }
    if (rule.substr(0, kOtherName.size()) == kOtherName) return other_name(rule);
    if (rule.substr(0, std::string_view(kGrammarMark).size()) == kGrammarMark) return marked_grammar(rule);
    return std::string(rule);
}

std::string with_prefix(std::string_view grammar, const std::string & prefix) {
    std::string renamed;
    for (size_t at = 0; at < grammar.size();) {
        size_t end = at + 1;
        if (is_rule_letter(grammar[at])) {
            while (end < grammar.size() && is_rule_letter(grammar[end])) end++;
            renamed += prefix;
        } else {
            end = end_of_nameless(grammar, at);
        }
        renamed += grammar.substr(at, end - at);
        at = end;
    }
    return renamed;
}

}  // namespace

size_t end_of_nameless(std::string_view text, size_t at) {
    static constexpr std::string_view begins = "\"[{<";
    static constexpr std::string_view ends = "\"]}>";
    const size_t kind = begins.find(text[at]);
    if (kind == std::string_view::npos) return at + 1;
    for (at++; at < text.size() && text[at] != ends[kind]; at++) at += text[at] == '\\';
    return std::min(at + 1, text.size());
}

std::string put_right(const std::string & converted) {
    static constexpr std::string_view is = " ::= ";
    std::string right;
    for (size_t begin = 0; begin < converted.size();) {
        const size_t end = std::min(converted.find('\n', begin), converted.size());
        const auto line = std::string_view(converted).substr(begin, end - begin);
        const size_t rule = line.find(is);
        if (rule == std::string_view::npos) right += line;
        else right.append(line.substr(0, rule + is.size())).append(right_rule(line.substr(rule + is.size())));
        right += '\n';
        begin = end + 1;
    }
    return right;
}

std::string either_of(const std::string & a, const std::string & before_b, const std::string & b) {
    const auto begin = before_b.empty() ? "" : gbnf_format_literal(before_b) + " ";
    return "root ::= a-root | " + begin + "b-root\n" + with_prefix(a, "a-") + "\n" + with_prefix(b, "b-");
}

}  // namespace svc
