// Reading answers piece by piece beside llama.cpp's parse of the whole: every difference is printed.
//
// chat-reference BACKENDS VOCABULARY stream SEED N_TEXTS: chat templates come on stdin, each closed by a zero byte. For each,
// texts
//   that follow its format, texts that nearly do and texts that do not are read in random pieces; what was said on the way must
//   come to what llama.cpp finds in the whole. One line each: "ok TEXTS COMPARED FIELDS", "unusable", or what differs.
// chat-reference BACKENDS VOCABULARY long SEED N_BYTES: a long content, reasoning, call and tagged call in the first template's
//   format, four bytes at a time. One line: for each, how often llama.cpp's parser ran and over how many bytes.
// chat-reference BACKENDS VOCABULARY read SEED N_BYTES: behind each template an answer follows on stdin, read so many bytes at a
//   time. One line: how many bytes of content, reasoning and calls' arguments came of it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../grammar/grammar_position.h"
#include "../model/model.h"
#include "../output/chat_reader.h"
#include "../text/text.h"
#include "log.h"

using namespace svc;

namespace {

using Random = std::mt19937;

const char * const kTools = R"([
  {"type": "function", "function": {"name": "set_light", "description": "Switches a lamp", "parameters": {"type": "object",
    "properties": {"room": {"type": "string"}, "on": {"type": "boolean"}, "level": {"type": "number"}}, "required": ["room"]}}},
  {"type": "function", "function": {"name": "write", "description": "Writes a file", "parameters": {"type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "string"}}}, "required": ["path"]}}}])";

const char * const kArrayTool = R"([{"type": "function", "function": {"name": "store", "description": "Keeps a list",
  "parameters": {"type": "object", "properties": {"value": {"type": "array"}}, "required": ["value"]}}}])";

struct Format {
    common_chat_params params;
    common_chat_parser_params parser;
    bool plain = false;
};

bool make_format(const common_chat_templates * templates, const char * tools, bool required, bool thinking, Format & format) {
    common_chat_templates_inputs inputs;
    inputs.messages = common_chat_msgs_parse_oaicompat(common_json::parse(R"([{"role": "user", "content": "Hello"}])"));
    if (tools) inputs.tools = common_chat_tools_parse_oaicompat(common_json::parse(tools));
    if (required) inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    inputs.parallel_tool_calls = true;
    inputs.enable_thinking = thinking;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    try {
        format.params = common_chat_templates_apply(templates, inputs);
        if (format.params.parser.empty()) return false;
        format.parser = common_chat_parser_params(format.params);
        format.parser.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
        format.parser.parse_tool_calls = tools != nullptr;
        format.parser.parser.load(format.params.parser);
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

std::vector<std::string> markers_of(const common_peg_arena & arena) {
    std::vector<std::string> markers{"<", "\n", "{\"", "```", "</", "[", "\"name\": "};
    for (common_peg_parser_id id = 0; id < arena.size(); id++) {
        if (const auto * until = std::get_if<common_peg_until_parser>(&arena.get(id)))
            markers.insert(markers.end(), until->delimiters.begin(), until->delimiters.end());
        if (const auto * literal = std::get_if<common_peg_literal_parser>(&arena.get(id))) markers.push_back(literal->literal);
    }
    return markers;
}

template <typename T> const T & pick(const std::vector<T> & from, Random & random) { return from[random() % from.size()]; }

std::string prose(const std::vector<std::string> & markers, Random & random) {
    static const std::vector<std::string> words{"the ",  "lamp", " is",  " on.\n",     "é",  "漢字", "🙂",
                                                "x < y", "  ",   "\n\n", "\"quoted\"", "\\", "{}"};
    std::string text;
    for (size_t n = random() % 12; n > 0; n--) {
        if (random() % 6 == 0) {
            const auto & marker = pick(markers, random);
            text += marker.substr(0, random() % (marker.size() + 1));
        } else {
            text += pick(words, random);
        }
    }
    return text;
}

void append_utf8(std::string & to, uint32_t c) {
    if (c < 0x80) {
        to += static_cast<char>(c);
    } else if (c < 0x800) {
        to += static_cast<char>(0xC0 | (c >> 6));
        to += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        to += static_cast<char>(0xE0 | (c >> 12));
        to += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        to += static_cast<char>(0x80 | (c & 0x3F));
    }
}

// A walk through the grammar that the format writes for its calls.
std::string walk(Grammar & grammar, const std::string & given, Random & random) {
    GrammarPosition position{grammar.start(), {}};
    if (!position.read(grammar, given)) position = {grammar.start(), {}};
    std::string text;
    while (text.size() < 600) {
        if (position.state->accepting() && random() % 3 == 0) break;
        std::vector<uint32_t> choices;
        for (uint32_t c : {0xE9u, 0x6F22u, 10u}) {
            if (!grammar.next(position.state, c)->dead()) choices.push_back(c);
        }
        for (uint32_t c = 32; c < 127; c++) {
            if (grammar.next(position.state, c)->dead()) continue;
            // Often what ends something, so that walks come to an end.
            const int weight = c == '"' || c == '}' || c == '<' ? 12 : 1;
            for (int i = 0; i < weight; i++) choices.push_back(c);
        }
        if (choices.empty()) break;
        const uint32_t c = pick(choices, random);
        position.state = grammar.next(position.state, c);
        append_utf8(text, c);
    }
    return text;
}

void damage(std::string & text, Random & random) {
    if (text.empty()) return;
    const size_t at = random() % text.size();
    switch (random() % 3) {
        case 0: text.resize(at); break;
        case 1: text.erase(at, 1 + random() % 3); break;
        default: text.insert(at, random() % 2 ? "," : "x");
    }
}

std::string write(const Format & format, Grammar * grammar, const std::vector<std::string> & markers, Random & random) {
    std::string text;
    if (!grammar || format.params.grammar_lazy || random() % 4 == 0) text = prose(markers, random);
    if (grammar && random() % 5 != 0)
        text += walk(*grammar, format.params.grammar_lazy ? "" : format.params.generation_prompt, random);
    if (random() % 4 == 0) text += prose(markers, random);
    if (random() % 3 == 0) damage(text, random);
    return text;
}

struct Said {
    std::string content, reasoning;
    std::vector<std::pair<std::string, std::string>> calls;

    void add(const common_chat_msg_diff & diff) {
        content += diff.content_delta;
        reasoning += diff.reasoning_content_delta;
        if (diff.tool_call_index == std::string::npos) return;
        if (calls.size() <= diff.tool_call_index) calls.resize(diff.tool_call_index + 1);
        auto & call = calls[diff.tool_call_index];
        if (!diff.tool_call_delta.name.empty()) call.first = diff.tool_call_delta.name;
        call.second += diff.tool_call_delta.arguments;
    }
    bool operator==(const Said & other) const {
        return content == other.content && reasoning == other.reasoning && calls == other.calls;
    }
    // Whether one of them says, in each field, the beginning of what the other says.
    bool agrees(const Said & other) const {
        auto agree = [](const std::string & a, const std::string & b) {
            const size_t length = std::min(a.size(), b.size());
            return a.compare(0, length, b, 0, length) == 0;
        };
        bool all = agree(content, other.content) && agree(reasoning, other.reasoning);
        for (size_t i = 0; i < std::min(calls.size(), other.calls.size()); i++)
            all = all && agree(calls[i].first, other.calls[i].first) && agree(calls[i].second, other.calls[i].second);
        return all;
    }
    std::string show() const {
        std::string all = "content '" + content + "' reasoning '" + reasoning + "'";
        for (const auto & [name, arguments] : calls) all += " call " + name + " '" + arguments + "'";
        return all;
    }
};

Said of_message(const common_chat_msg & message) {
    Said said{message.content, message.reasoning_content, {}};
    for (const auto & call : message.tool_calls) said.calls.emplace_back(call.name, call.arguments);
    return said;
}

// As llama.cpp's server streams: the whole so far is parsed for each piece.
Said stream_upstream(const Format & format, const std::string & text, const std::vector<size_t> & ends) {
    Said said;
    common_chat_msg last;
    std::vector<std::string> ids;
    for (size_t end : ends) {
        try {
            auto parsed = common_chat_parse(text.substr(0, end), end != text.size(), format.parser);
            if (parsed.empty()) continue;
            parsed.set_tool_call_ids(ids, [] { return std::string("id"); });
            for (const auto & diff : common_chat_msg_diff::compute_diffs(last, parsed)) said.add(diff);
            last = parsed;
        } catch (const std::exception &) {
            if (end == text.size() && last.empty()) said.content += text;
        }
    }
    return said;
}

size_t character_end(const std::string & text, size_t end) {
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end++;
    return end;
}

std::vector<size_t> random_ends(const std::string & text, Random & random) {
    std::vector<size_t> ends;
    const size_t longest = 1 + random() % 12;
    for (size_t at = 0; at < text.size();)
        ends.push_back(at = character_end(text, std::min(text.size(), at + 1 + random() % longest)));
    if (ends.empty()) ends.push_back(0);
    return ends;
}

struct Tally {
    size_t n_texts = 0, n_compared = 0, n_passed = 0;
};

std::string compare(const Format & format, const FieldRules & rules, const std::string & text, Random & random, Tally & tally) {
    tally.n_texts++;
    const auto ends = random_ends(text, random);
    const auto expected = stream_upstream(format, text, ends);
    std::optional<Said> whole;
    try {
        whole = of_message(common_chat_parse(text, false, format.parser));
    } catch (const std::exception &) {
        // It breaks the format: what was said before that stays said, and how much that was depends on the pieces.
    }
    ChatReader reader(format.parser, rules);
    Said said;
    for (size_t end : ends) {
        for (const auto & diff : reader.read(std::string_view(text).substr(0, end), end == text.size())) said.add(diff);
    }
    tally.n_passed += ends.size() - std::min(ends.size(), reader.n_parses());
    // Where llama.cpp's own stream does not come to what it finds in the whole, there is nothing to compare with.
    if (whole && !(expected == *whole)) return "";
    tally.n_compared++;
    if (whole ? said == *whole : said.agrees(expected)) return "";
    std::string shown;
    append_json_body(shown, "of [" + text + "] came " + said.show() + " and not " + expected.show());
    return shown;
}

std::string compare_template(const Model & model, const std::string & source, int n_texts, Random & random) {
    common_chat_templates_ptr templates;
    try {
        templates = common_chat_templates_init(model.raw(), source);
    } catch (const std::exception &) {
        return "unusable";
    }
    Tally tally;
    for (int variant = 0; variant < 6; variant++) {
        Format format;
        if (!make_format(templates.get(), variant % 3 > 0 ? kTools : nullptr, variant % 3 == 2, variant < 3, format)) continue;
        const FieldRules rules(format.parser.parser);
        const auto markers = markers_of(format.parser.parser);
        std::shared_ptr<Grammar> grammar;
        try {
            if (!format.params.grammar.empty()) grammar = model.grammars().get("test", format.params.grammar);
        } catch (const std::exception & error) {
            return std::string("a grammar of llama.cpp's is refused: ") + error.what();
        }
        for (int i = 0; i < n_texts; i++) {
            const auto difference = compare(format, rules, write(format, grammar.get(), markers, random), random, tally);
            if (!difference.empty()) return "variant " + std::to_string(variant) + ": " + difference;
        }
    }
    if (tally.n_texts == 0) return "unusable";
    return "ok " + std::to_string(tally.n_texts) + " " + std::to_string(tally.n_compared) + " " + std::to_string(tally.n_passed);
}

std::string read_long(const Format & format, const FieldRules & rules, const std::string & text) {
    ChatReader reader(format.parser, rules);
    for (size_t end = 0; end < text.size(); end += std::min<size_t>(4, text.size() - end))
        reader.read(std::string_view(text).substr(0, end), false);
    reader.read(text, true);
    return std::to_string(reader.n_parses()) + " " + std::to_string(reader.n_parsed_bytes());
}

std::string long_texts(const Model & model, const std::string & source, size_t n_bytes) {
    auto templates = common_chat_templates_init(model.raw(), source);
    Format format;
    if (!make_format(templates.get(), kTools, false, true, format)) return "unusable";
    const FieldRules rules(format.parser.parser);
    std::string words;
    while (words.size() < n_bytes) words += "a < b and so on. ";
    return "content " + read_long(format, rules, words) + ", reasoning " + read_long(format, rules, "<think>" + words) +
           ", call " +
           read_long(format, rules,
                     "<tool_call>\n{\"name\": \"set_light\", \"arguments\": {\"room\": \"" + words + "\"}}\n</tool_call>") +
           ", tagged " +
           read_long(
               format, rules,
               "<tool_call>\n<function=set_light>\n<parameter=room>\n" + words + "\n</parameter>\n</function>\n</tool_call>");
}

std::string read_answer(const Model & model, const std::string & source, const std::string & text, size_t n_bytes) {
    auto templates = common_chat_templates_init(model.raw(), source);
    Format format;
    if (!make_format(templates.get(), kArrayTool, false, false, format)) return "unusable";
    const FieldRules rules(format.parser.parser);
    ChatReader reader(format.parser, rules);
    Said said;
    for (size_t end = 0; end < text.size();) {
        end += std::min(n_bytes, text.size() - end);
        for (const auto & diff : reader.read(std::string_view(text).substr(0, end), end == text.size())) said.add(diff);
    }
    std::string line = "content " + std::to_string(said.content.size()) + ", reasoning " + std::to_string(said.reasoning.size());
    for (const auto & [name, arguments] : said.calls) line += ", " + name + " " + std::to_string(arguments.size());
    return line;
}

}  // namespace

int main(int argc, char ** argv) try {
    if (argc < 6) throw std::runtime_error("usage: chat-reference BACKENDS VOCABULARY stream|long|read SEED COUNT");
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    common_log_set_verbosity_thold(-1);
    ggml_backend_load_all_from_path(argv[1]);
    LoadOptions options;
    options.path = argv[2];
    options.vocab_only = true;
    const auto model = Model::load(options, [](float) { return true; });
    const std::string all((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    for (size_t at = 0, end; (end = all.find('\0', at)) != std::string::npos; at = end + 1) {
        Random random(static_cast<uint32_t>(std::atoi(argv[4])));
        const auto source = all.substr(at, end - at);
        const std::string mode = argv[3];
        std::string line;
        if (mode == "read") {
            const size_t begin = end + 1;
            end = all.find('\0', begin);
            if (end == std::string::npos) throw std::runtime_error("an answer belongs behind each template");
            line = read_answer(*model, source, all.substr(begin, end - begin), static_cast<size_t>(std::atoi(argv[5])));
        } else if (mode == "stream") {
            line = compare_template(*model, source, std::atoi(argv[5]), random);
        } else {
            line = long_texts(*model, source, static_cast<size_t>(std::atoi(argv[5])));
        }
        std::printf("%s\n", line.c_str());
        std::fflush(stdout);
    }
    return 0;
} catch (const std::exception & error) {
    std::fprintf(stderr, "chat-reference: %s\n", error.what());
    return 1;
}
