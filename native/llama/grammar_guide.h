// Follows one answer through its grammar and tells which tokens may come next.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chat.h"
#include "grammar_cache.h"
#include "grammar_position.h"

namespace svc {

// A grammar and when it applies: at once, or lazily after a trigger (tool calls that the model may or may not make).
struct GrammarSpec {
    std::string text;  // GBNF; empty: unconstrained
    bool lazy = false;
    std::vector<common_grammar_trigger> triggers;
    // What the chat template already wrote of the answer; the grammar must walk over it first.
    std::string generation_prompt;
};

class GrammarGuide {
  public:
    // `cache` must outlive the guide. Throws StatusError invalid_grammar.
    GrammarGuide(GrammarCache & cache, const GrammarSpec & spec);

    // False while a lazy grammar waits for its trigger: everything is allowed then.
    bool active() const { return !waiting_; }
    bool allows(llama_token token) { return !follow(token, vocabulary_.text(token)).state->dead(); }
    // The allowed tokens where they are few (whether they are depends on nothing but the grammar and what was accepted), else
    // null.
    const TokenSet * few();
    // The allowed tokens where somebody has sought them, else null.
    const TokenSet * known() const;
    // Looks through the vocabulary unless somebody did for this state.
    const TokenSet & allowed();
    // Goes on behind the token. False, and nothing changes, when it is not allowed.
    bool accept(llama_token token);

  private:
    GrammarPosition follow(llama_token token, std::string_view text);
    bool read(llama_token token, std::string_view text);
    void await_trigger(llama_token token);
    void trigger(size_t begin);

    GrammarCache & cache_;
    const VocabularyTrie & vocabulary_;
    std::shared_ptr<Grammar> grammar_;
    GrammarPosition position_;
    std::optional<TokenSet> inside_character_;  // allowed() between the bytes of a character, which is not kept for others

    bool waiting_;
    std::vector<std::string> trigger_words_;
    std::vector<llama_token> trigger_tokens_;
    size_t reach_ = 0;  // bytes before new text at which a trigger word may begin
    std::deque<std::pair<llama_token, std::string>> tail_;
};

}  // namespace svc
