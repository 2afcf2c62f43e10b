#include "grammar_position.h"

namespace svc {

bool GrammarPosition::read(Grammar & grammar, std::string_view text) {
    for (char c : text) {
        if (!push(grammar, static_cast<uint8_t>(c))) return false;
    }
    return possible(grammar);
}

namespace {

void add_named(const GrammarPosition & position, const VocabularyTrie & vocabulary, TokenSet & tokens) {
    if (position.partial.none() && position.state->wants_tokens()) {
        for (llama_token token : vocabulary.tokens()) {
            if (position.state->wants(token)) tokens.add(token);
        }
    }
    if (position.accepting()) {
        for (llama_token token : vocabulary.ends()) tokens.add(token);
    }
}

}  // namespace

std::optional<TokenSet> allowed_tokens(Grammar & grammar, const GrammarPosition & position, const VocabularyTrie & vocabulary,
                                       size_t most) {
    TokenSet tokens(vocabulary.n_vocab());
    add_named(position, vocabulary, tokens);
    const auto & nodes = vocabulary.nodes();
    thread_local std::vector<GrammarPosition> path;
    path.assign(vocabulary.depth() + 1, position);
    for (uint32_t i = 1; i + 1 < nodes.size() && tokens.n_added() <= most;) {
        const auto & node = nodes[i];
        auto & here = path[node.depth];
        here = path[node.depth - 1];
        if (!here.push(grammar, node.byte)) {
            i = node.end;
            continue;
        }
        const uint32_t end = nodes[i + 1].tokens_begin;
        if (node.tokens_begin < end && here.possible(grammar)) {
            for (uint32_t at = node.tokens_begin; at < end; at++) tokens.add(vocabulary.tokens()[at]);
        }
        i++;
    }
    if (tokens.n_added() > most) return std::nullopt;
    tokens.finish();
    return tokens;
}

}  // namespace svc
