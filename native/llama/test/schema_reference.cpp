// What the engine's grammar of a schema allows, for tests that compare it with what the schema says.
//
// schema-reference BACKENDS VOCABULARY SEED N_TEXTS: on stdin come schemas, each followed by any number of texts behind a byte 1
// and closed by a zero byte. One line each: "refused WHY", or which of the texts the grammar takes ("accepts 0110") and N_TEXTS
// that it may write, as one JSON list: characters are chosen at random among those that may follow, the end as soon as it may
// come when the text has grown long; a text that does not end is left out.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "../../common/status.h"
#include "../grammar/converted_grammar.h"
#include "../grammar/grammar_budget.h"
#include "../grammar/schema_bounds.h"
#include "../model/model.h"
#include "../text/text.h"
#include "common.h"
#include "json-schema-to-grammar.h"

using namespace svc;

namespace {

using Random = std::mt19937;

constexpr size_t kMostCharacters = 3000;
constexpr size_t kLongCharacters = 40;
constexpr double kMostMs = 4000;

std::vector<uint32_t> code_points_of(const std::string & text) {
    std::vector<uint32_t> points;
    for (size_t at = 0; at < text.size();) {
        const auto lead = static_cast<uint8_t>(text[at]);
        const int n_more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
        uint32_t point = n_more == 0 ? lead : lead & (0x3F >> n_more);
        for (int i = 1; i <= n_more; i++) point = point << 6 | (static_cast<uint8_t>(text[at + static_cast<size_t>(i)]) & 0x3F);
        points.push_back(point);
        at += static_cast<size_t>(n_more) + 1;
    }
    return points;
}

void append_utf8(std::string & to, uint32_t point) {
    if (point < 0x80) {
        to += static_cast<char>(point);
        return;
    }
    const int n_more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    const uint32_t lead = n_more == 1 ? 0xC0 : n_more == 2 ? 0xE0 : 0xF0;
    to += static_cast<char>(lead | point >> (6 * n_more));
    for (int i = n_more - 1; i >= 0; i--) to += static_cast<char>(0x80 | (point >> (6 * i) & 0x3F));
}

bool accepts(Grammar & grammar, const std::string & text) {
    auto * state = grammar.start();
    for (const uint32_t point : code_points_of(text)) {
        state = grammar.next(state, point);
        if (state->dead()) return false;
    }
    return state->accepting();
}

// Those that decide what JSON becomes come more often; the others show what a class leaves open.
uint32_t some_character(Random & random, bool is_long) {
    static const std::string closing = "\"}]\"}]\"}],:0aentu";
    static const std::string often = "{}[]\",:\\ -+.eE0123456789abcdefnrtuxyzABDZ_/\n";
    static const std::vector<uint32_t> rare = {0x00,   0x01,   0x1F,   0x7F,   0xE9,    0x660,
                                               0x2028, 0xD7FF, 0xE000, 0xFEFF, 0x1F600, 0x10FFFF};
    if (is_long && random() % 3 != 0) return static_cast<uint8_t>(closing[random() % closing.size()]);
    if (random() % 20 == 0) return rare[random() % rare.size()];
    return static_cast<uint8_t>(often[random() % often.size()]);
}

// Empty: it did not end.
std::string write(Grammar & grammar, Random & random) {
    std::string text;
    auto * state = grammar.start();
    for (size_t n = 0; n < kMostCharacters; n++) {
        const bool is_long = n > kLongCharacters;
        if (state->accepting() && (is_long || random() % 4 == 0)) return text;
        GrammarState * next = grammar.dead();
        uint32_t point = 0;
        for (int i = 0; i < 300 && next->dead(); i++) {
            point = some_character(random, is_long && i < 100);
            next = grammar.next(state, point);
        }
        if (next->dead()) {
            // The class is narrow: all of ASCII is tried.
            for (point = random() % 128; point < 128 && next->dead();) {
                next = grammar.next(state, point);
                if (next->dead()) point++;
            }
            for (uint32_t each = 0; each < 0x3000 && next->dead(); each++) {
                next = grammar.next(state, each);
                if (!next->dead()) point = each;
            }
        }
        if (next->dead()) return state->accepting() ? text : std::string();
        append_utf8(text, point);
        state = next;
    }
    return {};
}

std::string answer(const Model & model, const std::string & input, int n_texts, Random & random) {
    std::vector<std::string> parts = string_split(input, "\x01");
    const auto schema = common_json::parse(parts[0]);
    SchemaBounds(schema, "the schema").check();
    const GrammarBudget budget(GrammarBudget::Kind::Thread, kMostMs);
    const auto grammar = model.grammars().get("test", put_right(json_schema_to_grammar(schema)));
    std::string line = "accepts ";
    for (size_t i = 1; i < parts.size(); i++) line += accepts(*grammar, parts[i]) ? '1' : '0';
    line += " [";
    for (int i = 0; i < n_texts; i++) {
        const auto text = write(*grammar, random);
        if (text.empty()) continue;
        if (line.back() != '[') line += ',';
        line += '"';
        append_json_body(line, text);
        line += '"';
    }
    return line + "]";
}

}  // namespace

int main(int argc, char ** argv) try {
    if (argc != 5) throw std::runtime_error("usage: schema-reference BACKENDS VOCABULARY SEED N_TEXTS");
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    ggml_backend_load_all_from_path(argv[1]);
    LoadOptions options;
    options.path = argv[2];
    options.vocab_only = true;
    const auto model = Model::load(options, [](float) { return true; });
    Random random(static_cast<uint32_t>(std::atoi(argv[3])));
    std::string input;
    while (std::getline(std::cin, input, '\0')) {
        std::string line;
        try {
            line = answer(*model, input, std::atoi(argv[4]), random);
        } catch (const std::exception & error) {
            line = std::string("refused ") + error.what();
        }
        std::replace(line.begin(), line.end(), '\n', ' ');
        std::printf("%s\n", line.c_str());
    }
    return 0;
} catch (const std::exception & error) {
    std::fprintf(stderr, "schema-reference: %s\n", error.what());
    return 1;
}
