// Where a text stands in a grammar, byte by byte; and which tokens may follow there.
#pragma once

#include <optional>
#include <string_view>

#include "../text/utf8_partial.h"
#include "grammar.h"
#include "vocabulary_trie.h"

namespace svc {

struct GrammarPosition {
    GrammarState * state;
    Utf8Partial partial;  // a character whose last bytes are still to come

    // False when the byte cannot follow; the position is then of no more use.
    bool push(Grammar & grammar, uint8_t byte) {
        if (!partial.push(byte)) return false;
        if (!partial.none()) return true;
        state = grammar.next(state, partial.value);
        partial = {};
        return !state->dead();
    }
    // Whether the character that has begun can still become one that may follow.
    bool possible(Grammar & grammar) const { return partial.none() || grammar.any_next(state, partial.low(), partial.high()); }
    bool accepting() const { return partial.none() && state->accepting(); }

    // Reads a text. A token's text may end inside a character.
    bool read(Grammar & grammar, std::string_view text);
};

// Nothing when there are more than `most`.
std::optional<TokenSet> allowed_tokens(Grammar & grammar, const GrammarPosition & position, const VocabularyTrie & vocabulary,
                                       size_t most = SIZE_MAX);

}  // namespace svc
