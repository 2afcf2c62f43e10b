#include "raw_strings.h"

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "chat-peg-parser.h"
#include "converted_grammar.h"
#include "json-schema-to-grammar.h"

namespace svc {

namespace {

using Builder = common_chat_peg_builder;
using Id = common_peg_parser_id;

constexpr const char * kProbe = R"({
    "type": "object",
    "properties": {
        "svctext": {"type": "string", "enum": ["svcword"]},
        "svcnumber": {"type": "integer", "enum": [48151623]},
        "svcmembers": {"type": "object", "properties": {"a": {"type": "string", "enum": ["svcinner"]}}, "required": ["a"]}
    },
    "required": ["svctext", "svcnumber", "svcmembers"]
})";

std::string probe_grammar(const common_chat_templates * templates) {
    common_chat_templates_inputs inputs;
    common_chat_msg message;
    message.role = "user";
    message.content = "a";
    inputs.messages = {message};
    inputs.tools.push_back({"svcprobe", "a", kProbe});
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    return common_chat_templates_apply(templates, inputs).grammar;
}

// Whether an argument has a rule of its own: where it is one of many that may come or not, nothing requires it.
bool has_rule_of(const std::string & grammar, std::string_view argument) {
    for (size_t at = grammar.find(argument); at != std::string::npos; at = grammar.find(argument, at + 1)) {
        if (grammar.compare(at + argument.size(), 5, " ::= ") == 0) return true;
    }
    return false;
}

// Those that it leads to, with all of the rules that it names.
std::vector<Id> children_of(const common_peg_arena & arena, Id id) {
    return std::visit(
        [&](const auto & p) -> std::vector<Id> {
            using T = std::decay_t<decltype(p)>;
            if constexpr (std::is_same_v<T, common_peg_sequence_parser> || std::is_same_v<T, common_peg_choice_parser>) {
                return p.children;
            } else if constexpr (std::is_same_v<T, common_peg_repetition_parser> || std::is_same_v<T, common_peg_rule_parser> ||
                                 std::is_same_v<T, common_peg_atomic_parser> || std::is_same_v<T, common_peg_tag_parser> ||
                                 std::is_same_v<T, common_peg_gbnf_parser> || std::is_same_v<T, common_peg_ac_parser>) {
                return {p.child};
            } else if constexpr (std::is_same_v<T, common_peg_ref_parser>) {
                return {arena.get_rule(p.name)};
            } else {
                return {};
            }
        },
        arena.get(id));
}

template <typename Parser> const Parser * as(const common_peg_arena & arena, Id id) {
    return std::get_if<Parser>(&arena.get(id));
}

// The text below the first such tag, in no other rule.
std::optional<std::string> tagged_text(const common_peg_arena & arena, Id id, const char * tag, bool is_inside = false) {
    if (as<common_peg_rule_parser>(arena, id) || as<common_peg_ref_parser>(arena, id)) return std::nullopt;
    if (const auto * literal = as<common_peg_literal_parser>(arena, id); literal && is_inside) return literal->literal;
    if (const auto * tagged = as<common_peg_tag_parser>(arena, id)) is_inside = is_inside || tagged->tag == tag;
    for (Id child : children_of(arena, id)) {
        if (auto text = tagged_text(arena, child, tag, is_inside)) return text;
    }
    return std::nullopt;
}

// The names of the rules that are reached, by their ids.
std::map<Id, std::string> rules_from(const common_peg_arena & arena, Id from) {
    std::map<Id, std::string> rules;
    std::set<Id> seen;
    std::vector<Id> open{from};
    while (!open.empty()) {
        const Id id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        if (const auto * rule = as<common_peg_rule_parser>(arena, id)) rules[id] = rule->name;
        for (Id child : children_of(arena, id)) open.push_back(child);
    }
    return rules;
}

struct RawString {
    std::string gbnf;
    bool is_open = false;
};

class Splice {
  public:
    Splice(const common_peg_arena & parser, const std::string & grammar) : parser_(parser) {
        for (size_t begin = 0; begin < grammar.size();) {
            const size_t end = std::min(grammar.find('\n', begin), grammar.size());
            const auto line = grammar.substr(begin, end - begin);
            const size_t is = line.find(kIs);
            if (is != std::string::npos) places_[line.substr(0, is)] = lines_.size();
            lines_.push_back(line);
            begin = end + 1;
        }
    }

    void put(const std::string & rule, const RawString & string) {
        const auto body = body_of(rule);
        if (!body) return;
        if (const auto followed = rewritten(*body, string, 0)) lines_[places_.at(rule)] = rule + kIs + *followed;
    }

    std::string grammar() const {
        std::string all;
        for (const auto & line : lines_) all += line + '\n';
        return all;
    }

  private:
    static constexpr const char * kIs = " ::= ";
    // Rules between an argument and the text of it.
    static constexpr int kMostRules = 4;

    std::optional<std::string> body_of(const std::string & rule) const {
        const auto place = places_.find(rule);
        if (place == places_.end()) return std::nullopt;
        return lines_[place->second].substr(rule.size() + std::string_view(kIs).size());
    }

    // Nothing where no text stands in it.
    std::optional<std::string> rewritten(const std::string & body, const RawString & string, int depth) const {
        std::string right;
        bool is_changed = false;
        for (size_t at = 0; at < body.size();) {
            size_t end = at + 1;
            std::optional<std::string> text;
            if (is_rule_letter(body[at])) {
                while (end < body.size() && is_rule_letter(body[end])) end++;
                text = text_of(body.substr(at, end - at), string, depth);
            } else {
                end = end_of_nameless(body, at);
            }
            is_changed = is_changed || text;
            right += text ? *text : body.substr(at, end - at);
            at = end;
        }
        if (!is_changed) return std::nullopt;
        return right;
    }

    // What takes the place of a name that stands for any text, with its end or without it.
    std::optional<std::string> text_of(const std::string & name, const RawString & string, int depth) const {
        const auto rest = string.is_open ? " " + name : std::string();
        if (const auto * until = numbered<common_peg_until_parser>(name, "until-"); until && closing_tag(until->delimiters))
            return "(" + string.gbnf + rest + ")";
        if (const auto * ac = numbered<common_peg_ac_parser>(name, "ac-"); ac && closing_tag(ac->delimiters)) {
            const auto end = string.is_open ? rest : " " + gbnf_format_literal(ac->delimiters.front());
            return "(" + string.gbnf + end + ")";
        }
        const auto body = depth < kMostRules ? body_of(name) : std::nullopt;
        const auto inner = body ? rewritten(*body, string, depth + 1) : std::nullopt;
        if (!inner) return std::nullopt;
        return "(" + *inner + ")";
    }

    template <typename Parser> const Parser * numbered(const std::string & name, std::string_view begin) const {
        if (name.compare(0, begin.size(), begin) != 0) return nullptr;
        const auto digits = name.substr(begin.size());
        if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) return nullptr;
        const auto id = static_cast<Id>(std::stoul(digits));
        return id < parser_.size() ? as<Parser>(parser_, id) : nullptr;
    }

    static bool closing_tag(const std::vector<std::string> & delimiters) {
        return delimiters.size() == 1 && delimiters.front().find("</") != std::string::npos;
    }

    const common_peg_arena & parser_;
    std::vector<std::string> lines_;
    std::map<std::string, size_t> places_;
};

}  // namespace

CallArguments call_arguments_of(const common_chat_templates * templates) {
    try {
        if (!common_chat_templates_get_caps(templates)["supports_tool_calls"]) return CallArguments::Json;
        const auto grammar = probe_grammar(templates);
        const auto has = [&](const char * word) { return grammar.find(word) != std::string::npos; };
        if (grammar.empty() || has("svcword")) return CallArguments::Json;
        const bool is_tagged = has("48151623") && has("svcinner") && has_rule_of(grammar, "svctext");
        return is_tagged ? CallArguments::Tagged : CallArguments::Free;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception &) {
        return CallArguments::Json;
    }
}

std::string follow_strings(const common_peg_arena & parser, const std::string & grammar, const common_json & strings) {
    Splice splice(parser, grammar);
    for (const auto & each : rules_from(parser, parser.root())) {
        const Id tool = as<common_peg_rule_parser>(parser, each.first)->child;
        const auto name = tagged_text(parser, tool, Builder::TOOL_NAME);
        if (!name || !strings.contains(*name)) continue;
        const auto & wanted = strings.at(*name);
        for (const auto & [id, rule] : rules_from(parser, tool)) {
            const auto argument = tagged_text(parser, as<common_peg_rule_parser>(parser, id)->child, Builder::TOOL_ARG_NAME);
            if (!argument || !wanted.contains(*argument)) continue;
            const auto & string = wanted.at(*argument);
            splice.put(rule, {string.at("gbnf").get<std::string>(), string.at("isOpen").get<bool>()});
        }
    }
    return splice.grammar();
}

}  // namespace svc
