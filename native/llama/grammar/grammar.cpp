#include "grammar.h"

#include <algorithm>
#include <thread>
#include <unordered_set>

#include "../../common/status.h"
#include "grammar_budget.h"

namespace svc {

namespace {

using Kind = GrammarSymbol::Kind;

// A grammar whose states grow beyond this is ambiguous in a way that nobody means.
constexpr size_t kMostVisits = 200000;
constexpr size_t kMostClasses = 20000;
// A single token's way through a grammar may make this much, which nothing else bounds: GrammarCache renews a large one between
// two tokens.
constexpr size_t kMostBytes = 96 << 20;
constexpr uint32_t kEmptyStack = 0;

[[noreturn]] void refuse(const char * why) { throw StatusError("grammar_too_complex", why); }

// A table about to grow moves all that it has.
template <typename Table> void before_insert(const Table & table) {
    const auto n_next = static_cast<float>(table.size() + 1);
    if (n_next > static_cast<float>(table.bucket_count()) * table.max_load_factor()) GrammarBudget::begin(table.size());
}

bool matches(const GrammarSymbol & symbol, llama_token token) {
    return (symbol.value == static_cast<uint32_t>(token)) == (symbol.kind == Kind::Token);
}

}  // namespace

bool GrammarState::wants(llama_token token) const {
    GrammarBudget::spend(1 + token_symbols_.size() / 8);
    return std::any_of(token_symbols_.begin(), token_symbols_.end(), [&](const auto & symbol) { return matches(symbol, token); });
}

struct Grammar::Closure {
    std::vector<Stack> todo;
    std::unordered_set<uint64_t> seen;
    std::vector<uint32_t> stacks;
};

Grammar::Grammar(std::shared_ptr<const GrammarRules> rules, std::shared_ptr<GrammarMemory> memory)
    : rules_(std::move(rules)), memory_(std::move(memory)) {
    find_classes();
    stacks_.push_back({0, kEmptyStack});
    dead_ = intern({});
    Closure closure;
    enter_rule(rules_->root, kEmptyStack, closure);
    start_ = close(closure);
}

// Another thread may hold it for as long as the largest closure takes: a step waits no longer than its budget.
std::unique_lock<std::mutex> Grammar::lock() const {
    std::unique_lock lock(mutex_, std::defer_lock);
    while (GrammarBudget::is_step() && !lock.try_lock()) {
        GrammarBudget::look();
        std::this_thread::yield();
    }
    if (!lock) lock.lock();
    return lock;
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
    if (class_begins_.size() > kMostClasses) refuse("the grammar names too many different characters; name ranges of them");
    for (uint32_t c = 0; c < ascii_class_.size(); c++) {
        const auto above = std::upper_bound(class_begins_.begin(), class_begins_.end(), c);
        ascii_class_[c] = static_cast<uint16_t>(above - class_begins_.begin() - 1);
    }
    grow(rules_->symbols.size() * sizeof(GrammarSymbol) + rules_->sets.size() * 64);
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
    GrammarBudget::spend();
    auto * table = state->next_.load(std::memory_order_acquire);
    if (table) {
        if (auto * known = table[code_point_class].load(std::memory_order_acquire)) return known;
    }
    const auto held = lock();
    table = table_of(state);
    if (auto * known = table[code_point_class].load(std::memory_order_relaxed)) return known;
    GrammarBudget::begin(state->stacks_.size());
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
        GrammarBudget::spend(1 + class_begins_.size() / 64);
        grow(class_begins_.size() * sizeof(void *));
        state->table_.reset(new std::atomic<GrammarState *>[class_begins_.size()]());
        state->next_.store(state->table_.get(), std::memory_order_release);
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
    const auto held = lock();
    GrammarBudget::begin(state->token_stacks_.size());
    Closure closure;
    for (uint32_t stack : state->token_stacks_) {
        if (matches(rules_->symbols[stacks_[stack].symbol], token)) step(stack, closure);
    }
    return close(closure);
}

GrammarState * Grammar::join(GrammarState * a, GrammarState * b) {
    if (a->dead() || a == b) return b;
    if (b->dead()) return a;
    const auto held = lock();
    GrammarBudget::begin(a->stacks_.size() + b->stacks_.size());
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
        GrammarBudget::spend(symbols.size());
        uint32_t adopted = kEmptyStack;
        for (auto symbol = symbols.rbegin(); symbol != symbols.rend(); symbol++) adopted = push(*symbol, adopted);
        stacks.push_back(adopted);
    }
    return intern(std::move(stacks));
}

const TokenSet * Grammar::set_allowed(GrammarState * state, TokenSet tokens) {
    const auto held = lock();
    if (!state->allowed_owned_) {
        grow(tokens.size_bytes());
        state->allowed_owned_ = std::make_unique<const TokenSet>(std::move(tokens));
        state->allowed_.store(state->allowed_owned_.get(), std::memory_order_release);
    }
    return state->allowed_owned_.get();
}

// The size is counted before the part is made: it stays a little larger than it is where memory runs out then.
void Grammar::grow(size_t n_bytes) {
    if (size_bytes() + n_bytes > kMostBytes)
        refuse("the grammar takes too much memory to follow; make it smaller, or less ambiguous");
    if (!memory_.grow(n_bytes))
        refuse(
            "the grammars that run now take all the memory that there is for them; make it smaller, less ambiguous, or try "
            "later");
}

uint32_t Grammar::push(uint32_t symbol, uint32_t below) {
    const uint64_t key = uint64_t{symbol} << 32 | below;
    if (const auto found = stack_ids_.find(key); found != stack_ids_.end()) return found->second;
    before_insert(stack_ids_);
    if (stacks_.size() == stacks_.capacity()) {
        GrammarBudget::begin(stacks_.size() / 8);
        stacks_.reserve(2 * stacks_.size());
    }
    grow(sizeof(Stack) + 32);
    const auto id = static_cast<uint32_t>(stacks_.size());
    stack_ids_.emplace(key, id);
    stacks_.push_back({symbol, below});  // there is room for it
    return id;
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
            GrammarBudget::spend();
            symbol = stacks_[below].symbol;
            below = stacks_[below].below;
        }
        if (is_end(symbol)) {
            closure.stacks.push_back(kEmptyStack);
            continue;
        }
        GrammarBudget::spend(2);
        if (!closure.seen.insert(uint64_t{symbol} << 32 | below).second) continue;
        if (closure.seen.size() > kMostVisits) refuse("the grammar is too ambiguous to be followed");
        const auto & here = rules_->symbols[symbol];
        if (here.kind != Kind::Rule) closure.stacks.push_back(push(symbol, below));
        // A rule at the end of another needs no way back there.
        else enter_rule(here.value, is_end(symbol + 1) ? below : push(symbol + 1, below), closure);
    }
    return intern(std::move(closure.stacks));
}

GrammarState * Grammar::intern(std::vector<uint32_t> stacks) {
    GrammarBudget::begin(stacks.size());
    std::sort(stacks.begin(), stacks.end());
    stacks.erase(std::unique(stacks.begin(), stacks.end()), stacks.end());
    std::string key(reinterpret_cast<const char *>(stacks.data()), stacks.size() * sizeof(uint32_t));
    if (const auto found = state_ids_.find(key); found != state_ids_.end()) return found->second;
    before_insert(state_ids_);
    grow(sizeof(GrammarState) + 64 + stacks.size() * 2 * sizeof(uint32_t));
    auto & state = states_.emplace_back();
    try {
        describe(state, std::move(stacks));
        state_ids_.emplace(std::move(key), &state);
    } catch (...) {
        states_.pop_back();
        throw;
    }
    return &state;
}

void Grammar::describe(GrammarState & state, std::vector<uint32_t> stacks) const {
    for (uint32_t stack : stacks) {
        const auto & symbol = rules_->symbols[stacks_[stack].symbol];
        if (stack == kEmptyStack) {
            state.accepting_ = true;
        } else if (symbol.kind != Kind::Set) {
            state.token_stacks_.push_back(stack);
            state.token_symbols_.push_back(symbol);
        }
    }
    state.stacks_ = std::move(stacks);
}

}  // namespace svc
