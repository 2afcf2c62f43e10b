#include "grammar.h"

#include <algorithm>
#include <unordered_set>

#include "../common/status.h"

namespace svc {

namespace {

using Kind = GrammarSymbol::Kind;

// A grammar whose states grow beyond this is ambiguous in a way that nobody means.
constexpr size_t kMostVisits = 200000;
constexpr size_t kMostClasses = 20000;
constexpr uint32_t kEmptyStack = 0;

bool matches(const GrammarSymbol & symbol, llama_token token) {
    return (symbol.value == static_cast<uint32_t>(token)) == (symbol.kind == Kind::Token);
}

}  // namespace

bool GrammarState::wants(llama_token token) const {
    return std::any_of(token_symbols_.begin(), token_symbols_.end(), [&](const auto & symbol) { return matches(symbol, token); });
}

struct Grammar::Closure {
    std::vector<Stack> todo;
    std::unordered_set<uint64_t> seen;
    std::vector<uint32_t> stacks;
};

Grammar::Grammar(std::shared_ptr<const GrammarRules> rules) : rules_(std::move(rules)) {
    find_classes();
    stacks_.push_back({0, kEmptyStack});
    dead_ = intern({});
    Closure closure;
    enter_rule(rules_->root, kEmptyStack, closure);
    start_ = close(closure);
}

// Code points between two neighbouring bounds of all sets behave alike.
void Grammar::find_classes() {
    class_begins_ = {0};
    for (const auto & set : rules_->sets) {
        for (const auto & range : set) {
            class_begins_.push_back(range.low);
            class_begins_.push_back(range.high + 1);
        }
    }
    std::sort(class_begins_.begin(), class_begins_.end());
    class_begins_.erase(std::unique(class_begins_.begin(), class_begins_.end()), class_begins_.end());
    if (class_begins_.size() > kMostClasses)
        throw StatusError("invalid_grammar", "the grammar names too many different characters");
    for (uint32_t c = 0; c < ascii_class_.size(); c++) {
        const auto above = std::upper_bound(class_begins_.begin(), class_begins_.end(), c);
        ascii_class_[c] = static_cast<uint16_t>(above - class_begins_.begin() - 1);
    }
    size_bytes_ += rules_->symbols.size() * sizeof(GrammarSymbol) + rules_->sets.size() * 64;
}

bool Grammar::set_has_class(uint32_t set, uint32_t code_point_class) const {
    const auto & ranges = rules_->sets[set];
    const uint32_t code_point = class_begins_[code_point_class];
    const auto above = std::upper_bound(ranges.begin(), ranges.end(), CodePointRange{code_point, UINT32_MAX});
    return above != ranges.begin() && code_point <= (above - 1)->high;
}

uint32_t Grammar::class_of(uint32_t code_point) const {
    if (code_point < ascii_class_.size()) return ascii_class_[code_point];
    return static_cast<uint32_t>(std::upper_bound(class_begins_.begin(), class_begins_.end(), code_point) -
                                 class_begins_.begin()) -
           1;
}

GrammarState * Grammar::next_class(GrammarState * state, uint32_t code_point_class) {
    auto * table = state->next_.load(std::memory_order_acquire);
    if (table) {
        if (auto * known = table[code_point_class].load(std::memory_order_acquire)) return known;
    }
    Lock lock(mutex_);
    table = table_of(state);
    if (auto * known = table[code_point_class].load(std::memory_order_relaxed)) return known;
    Closure closure;
    for (uint32_t stack : state->stacks_) {
        const auto & symbol = rules_->symbols[stacks_[stack].symbol];
        if (stack != kEmptyStack && symbol.kind == Kind::Set && set_has_class(symbol.value, code_point_class))
            step(stack, closure);
    }
    auto * next = close(closure);
    table[code_point_class].store(next, std::memory_order_release);
    return next;
}

std::atomic<GrammarState *> * Grammar::table_of(GrammarState * state) {
    if (!state->table_) {
        state->table_.reset(new std::atomic<GrammarState *>[class_begins_.size()]());
        state->next_.store(state->table_.get(), std::memory_order_release);
        size_bytes_ += class_begins_.size() * sizeof(void *);
    }
    return state->table_.get();
}

bool Grammar::any_next(GrammarState * state, uint32_t low, uint32_t high) {
    const uint32_t last = class_of(high);
    for (uint32_t i = class_of(low); i <= last; i++) {
        if (!next_class(state, i)->dead()) return true;
    }
    return false;
}

GrammarState * Grammar::next_token(GrammarState * state, llama_token token) {
    if (state->token_stacks_.empty()) return dead_;
    Lock lock(mutex_);
    Closure closure;
    for (uint32_t stack : state->token_stacks_) {
        if (matches(rules_->symbols[stacks_[stack].symbol], token)) step(stack, closure);
    }
    return close(closure);
}

GrammarState * Grammar::join(GrammarState * a, GrammarState * b) {
    if (a->dead() || a == b) return b;
    if (b->dead()) return a;
    Lock lock(mutex_);
    auto stacks = a->stacks_;
    stacks.insert(stacks.end(), b->stacks_.begin(), b->stacks_.end());
    return intern(std::move(stacks));
}

GrammarState * Grammar::adopt(const GrammarState * state, const Grammar & from) {
    std::scoped_lock lock(mutex_, from.mutex_);
    std::vector<uint32_t> stacks;
    for (uint32_t stack : state->stacks_) {
        std::vector<uint32_t> symbols;
        for (; stack != kEmptyStack; stack = from.stacks_[stack].below) symbols.push_back(from.stacks_[stack].symbol);
        uint32_t adopted = kEmptyStack;
        for (auto symbol = symbols.rbegin(); symbol != symbols.rend(); symbol++) adopted = push(*symbol, adopted);
        stacks.push_back(adopted);
    }
    return intern(std::move(stacks));
}

const TokenSet * Grammar::set_allowed(GrammarState * state, TokenSet tokens) {
    Lock lock(mutex_);
    if (!state->allowed_owned_) {
        size_bytes_ += tokens.size_bytes();
        state->allowed_owned_ = std::make_unique<const TokenSet>(std::move(tokens));
        state->allowed_.store(state->allowed_owned_.get(), std::memory_order_release);
    }
    return state->allowed_owned_.get();
}

uint32_t Grammar::push(uint32_t symbol, uint32_t below) {
    const auto id = static_cast<uint32_t>(stacks_.size());
    const auto [found, is_new] = stack_ids_.emplace(uint64_t{symbol} << 32 | below, id);
    if (is_new) {
        stacks_.push_back({symbol, below});
        size_bytes_ += sizeof(Stack) + 32;
    }
    return found->second;
}

void Grammar::enter_rule(uint32_t rule, uint32_t below, Closure & closure) const {
    for (uint32_t begin : rules_->rules[rule]) closure.todo.push_back({begin, below});
}

// Goes on behind the top of a stack, which has been read.
void Grammar::step(uint32_t stack, Closure & closure) const {
    closure.todo.push_back({stacks_[stack].symbol + 1, stacks_[stack].below});
}

// Follows rules and ends of rules until every stack waits for something to read.
GrammarState * Grammar::close(Closure & closure) {
    while (!closure.todo.empty()) {
        auto [symbol, below] = closure.todo.back();
        closure.todo.pop_back();
        while (is_end(symbol) && below != kEmptyStack) {
            symbol = stacks_[below].symbol;
            below = stacks_[below].below;
        }
        if (is_end(symbol)) {
            closure.stacks.push_back(kEmptyStack);
            continue;
        }
        if (!closure.seen.insert(uint64_t{symbol} << 32 | below).second) continue;
        if (closure.seen.size() > kMostVisits)
            throw StatusError("invalid_grammar", "the grammar is too ambiguous to be followed");
        const auto & here = rules_->symbols[symbol];
        if (here.kind != Kind::Rule) closure.stacks.push_back(push(symbol, below));
        // A rule at the end of another needs no way back there.
        else enter_rule(here.value, is_end(symbol + 1) ? below : push(symbol + 1, below), closure);
    }
    return intern(std::move(closure.stacks));
}

GrammarState * Grammar::intern(std::vector<uint32_t> stacks) {
    std::sort(stacks.begin(), stacks.end());
    stacks.erase(std::unique(stacks.begin(), stacks.end()), stacks.end());
    std::string key(reinterpret_cast<const char *>(stacks.data()), stacks.size() * sizeof(uint32_t));
    auto & state = state_ids_[std::move(key)];
    if (state) return state;
    state = &states_.emplace_back();
    size_bytes_ += sizeof(GrammarState) + 64 + stacks.size() * 2 * sizeof(uint32_t);
    for (uint32_t stack : stacks) {
        const auto & symbol = rules_->symbols[stacks_[stack].symbol];
        if (stack == kEmptyStack) {
            state->accepting_ = true;
        } else if (symbol.kind != Kind::Set) {
            state->token_stacks_.push_back(stack);
            state->token_symbols_.push_back(symbol);
        }
    }
    state->stacks_ = std::move(stacks);
    return state;
}

}  // namespace svc
