// Follows one answer through its grammar and tells which tokens may come next.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
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
    // Whose automaton it is: how far one tenant's answers have built one shows in the time that it takes.
    std::string tenant;
};

// Every question and accept() throws GrammarLate when the GrammarBudget of the calling thread is spent, and StatusError
// grammar_too_complex; the guide then stands where it stood.
class GrammarGuide {
  public:
    // `cache` must outlive the guide. Throws StatusError invalid_grammar or grammar_too_complex.
    GrammarGuide(GrammarCache & cache, const GrammarSpec & spec);

    // False while a lazy grammar waits for its trigger: everything is allowed then.
    bool active() const { return !waiting_; }
    bool allows(llama_token token) { return !follow(place_, token, vocabulary_.text(token)).state->dead(); }
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
    // A position of an automaton.
    struct Place {
        std::shared_ptr<Grammar> grammar;
        GrammarPosition position;
    };

    GrammarPosition follow(const Place & from, llama_token token, std::string_view text) const;
    std::optional<Place> behind(const Place & from, llama_token token, std::string_view text) const;
    bool read(llama_token token);
    void await_trigger(llama_token token);
    std::optional<Place> trigger(size_t begin, llama_token token) const;
    std::string tail_with(llama_token token) const;
    void remember(llama_token token);

    GrammarCache & cache_;
    const VocabularyTrie & vocabulary_;
    Place place_;
    std::optional<TokenSet> inside_character_;  // allowed() between the bytes of a character, which is not kept for others

    bool waiting_;
    std::vector<std::string> trigger_words_;
    std::vector<llama_token> trigger_tokens_;
    size_t reach_ = 0;  // bytes before new text at which a trigger word may begin
    std::deque<llama_token> tail_;
    size_t n_tail_bytes_ = 0;
};

}  // namespace svc
