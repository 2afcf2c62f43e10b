// Reads GBNF, llama.cpp's notation for grammars (grammars/README.md there). Written anew because llama.cpp prints the text of a
// grammar that it cannot parse, which here is a user's, to stderr.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "llama.h"

namespace svc {

struct GrammarSymbol {
    enum class Kind : uint8_t {
        End,       // of an alternative
        Set,       // one character out of sets[value]
        Rule,      // rules[value]
        Token,     // the token `value`
        TokenNot,  // any other token
    };
    Kind kind;
    uint32_t value;
};

struct CodePointRange {
    uint32_t low;
    uint32_t high;
    bool operator<(const CodePointRange & other) const { return low < other.low || (low == other.low && high < other.high); }
};

// Sorted, without overlaps.
using CodePointSet = std::vector<CodePointRange>;

struct GrammarRules {
    std::vector<GrammarSymbol> symbols;        // all alternatives one after the other, each closed by End
    std::vector<std::vector<uint32_t>> rules;  // for each rule, where its alternatives begin in `symbols`
    std::vector<CodePointSet> sets;
    uint32_t root = 0;
};

// `vocab` resolves <token> symbols. Throws StatusError invalid_grammar or grammar_too_complex with line and column, and
// GrammarLate (grammar_budget.h).
GrammarRules parse_gbnf(std::string_view text, const llama_vocab * vocab);

}  // namespace svc
