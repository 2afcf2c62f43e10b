// A grammar as an automaton over code points that builds itself while it is used. A state is a set of stacks of the pushdown
// automaton that the rules describe; states and transitions are kept, so the second visit of a state costs a table look-up. All
// requests with the same grammar share one, on any thread: what exists is read without a lock.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "gbnf.h"
#include "grammar_memory.h"
#include "token_set.h"

namespace svc {

class GrammarState {
  public:
    // What has been read is a whole text of the grammar.
    bool accepting() const { return accepting_; }
    // Some stack waits for a certain token and not for a character.
    bool wants_tokens() const { return !token_stacks_.empty(); }
    bool wants(llama_token token) const;
    // For set_allowed(): more tokens may follow than are worth a list, so they are not sought before they are needed.
    std::atomic<bool> many{false};
    // Nothing can follow, and what has been read is no whole text either.
    bool dead() const { return stacks_.empty(); }

  private:
    friend class Grammar;
    using Table = std::unique_ptr<std::atomic<GrammarState *>[]>;

    std::vector<uint32_t> stacks_;  // sorted; 0 is the empty stack
    std::vector<uint32_t> token_stacks_;
    std::vector<GrammarSymbol> token_symbols_;  // their tops
    bool accepting_ = false;
    std::atomic<std::atomic<GrammarState *> *> next_{nullptr};  // by class of code points; made when first needed
    Table table_;
    std::atomic<const TokenSet *> allowed_{nullptr};
    std::unique_ptr<const TokenSet> allowed_owned_;
};

class Grammar {
  public:
    // Throws StatusError grammar_too_complex.
    Grammar(std::shared_ptr<const GrammarRules> rules, std::shared_ptr<GrammarMemory> memory);

    const std::shared_ptr<const GrammarRules> & rules() const { return rules_; }
    GrammarState * start() const { return start_; }
    GrammarState * dead() const { return dead_; }

    // The state behind a character; dead() when it cannot follow. Throws StatusError grammar_too_complex where the grammar is so
    // ambiguous that a state has no bounded size. This and what follows throws GrammarLate when the GrammarBudget of the calling
    // thread is spent; what had been found out by then is kept, and nothing half of it.
    GrammarState * next(GrammarState * state, uint32_t code_point) { return next_class(state, class_of(code_point)); }
    // Whether some character of this range can follow.
    bool any_next(GrammarState * state, uint32_t low, uint32_t high);
    // The state behind a token that the grammar names; dead() when it names another.
    GrammarState * next_token(GrammarState * state, llama_token token);
    // What either state allows.
    GrammarState * join(GrammarState * a, GrammarState * b);
    // The same state of another automaton with the same rules.
    GrammarState * adopt(const GrammarState * state, const Grammar & from);

    // The tokens that may follow, once somebody has found them (set_allowed); null before.
    const TokenSet * allowed(const GrammarState * state) const { return state->allowed_.load(std::memory_order_acquire); }
    const TokenSet * set_allowed(GrammarState * state, TokenSet tokens);

    // RetiredGrammars keeps them in a list that needs no memory.
    std::unique_ptr<Grammar> next_retired;

    size_t size_bytes() const { return memory_.bytes(); }

  private:
    // A stack is its top and the stack below: an index in `symbols` to go on with.
    struct Stack {
        uint32_t symbol;
        uint32_t below;
    };
    // Stacks being gathered for a state.
    struct Closure;

    std::unique_lock<std::mutex> lock() const;
    uint32_t class_of(uint32_t code_point) const;
    GrammarState * next_class(GrammarState * state, uint32_t code_point_class);
    std::atomic<GrammarState *> * table_of(GrammarState * state);
    void find_classes();
    bool set_has_class(uint32_t set, uint32_t code_point_class) const;
    bool is_end(uint32_t symbol) const { return rules_->symbols[symbol].kind == GrammarSymbol::Kind::End; }
    uint32_t push(uint32_t symbol, uint32_t below);
    void enter_rule(uint32_t rule, uint32_t below, Closure & closure) const;
    GrammarState * close(Closure & closure);
    void step(uint32_t stack, Closure & closure) const;
    GrammarState * intern(std::vector<uint32_t> stacks);
    void describe(GrammarState & state, std::vector<uint32_t> stacks) const;
    void grow(size_t n_bytes);

    std::shared_ptr<const GrammarRules> rules_;
    std::vector<uint32_t> class_begins_;
    std::array<uint16_t, 128> ascii_class_{};

    mutable std::mutex mutex_;  // for what follows, but for what GrammarState publishes by itself
    std::vector<Stack> stacks_;
    std::unordered_map<uint64_t, uint32_t> stack_ids_;
    std::deque<GrammarState> states_;
    std::unordered_map<std::string, GrammarState *> state_ids_;
    GrammarState * start_ = nullptr;
    GrammarState * dead_ = nullptr;
    GrammarMemory::Share memory_;
};

}  // namespace svc
