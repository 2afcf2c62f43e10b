#include "grammar_builder.h"

#include <algorithm>

#include "grammar_budget.h"

namespace svc {

namespace {

using Kind = GrammarSymbol::Kind;

// What a rule and an alternative take beside their symbols, in symbols.
constexpr size_t kRuleSymbols = 2;
constexpr size_t kAlternativeSymbols = 1;

CodePointSet merged(CodePointSet ranges) {
    std::sort(ranges.begin(), ranges.end());
    CodePointSet set;
    for (const auto & range : ranges) {
        if (range.low > range.high) continue;
        if (!set.empty() && range.low <= set.back().high + 1) set.back().high = std::max(set.back().high, range.high);
        else set.push_back(range);
    }
    return set;
}

CodePointSet complement(const CodePointSet & set) {
    CodePointSet rest;
    uint32_t next = 0;
    for (const auto & range : set) {
        if (range.low > next) rest.push_back({next, range.low - 1});
        next = range.high + 1;
    }
    if (next <= 0x10FFFF) rest.push_back({next, 0x10FFFF});
    return rest;
}

}  // namespace

void GrammarBuilder::charge(size_t n_symbols) {
    GrammarBudget::spend(1 + n_symbols / 8);
    n_symbols_ += n_symbols;
    if (n_symbols_ > kMostSymbols) throw GrammarTooLarge();
}

uint32_t GrammarBuilder::id_of(const std::string & name) { return ids_.emplace(name, n_rules_).second ? n_rules_++ : ids_[name]; }

void GrammarBuilder::define(uint32_t id, Alternatives alternatives) {
    charge(kRuleSymbols + kAlternativeSymbols * alternatives.size());
    if (alternatives_.size() <= id) alternatives_.resize(id + 1);
    alternatives_[id] = std::move(alternatives);
}

void GrammarBuilder::append(Symbols & symbols, GrammarSymbol symbol) {
    charge(1);
    symbols.push_back(symbol);
}

void GrammarBuilder::append_set(Symbols & symbols, CodePointSet ranges, bool inverse) {
    auto set = merged(std::move(ranges));
    if (inverse) set = complement(set);
    GrammarBudget::spend(set.size());
    const auto id = set_ids_.emplace(std::move(set), static_cast<uint32_t>(set_ids_.size())).first->second;
    append(symbols, {Kind::Set, id});
}

void GrammarBuilder::repeat(Symbols & symbols, size_t begin, size_t least, const size_t * most) {
    const Symbols repeated(symbols.begin() + static_cast<std::ptrdiff_t>(begin), symbols.end());
    symbols.resize(begin);
    n_symbols_ -= repeated.size();
    charge(least * repeated.size());
    for (size_t i = 0; i < least; i++) symbols.insert(symbols.end(), repeated.begin(), repeated.end());
    if (!most) append(symbols, {Kind::Rule, unbounded_tail(repeated)});
    else if (*most > least) append(symbols, {Kind::Rule, bounded_tail(repeated, *most - least)});
}

// tail ::= S tail |
uint32_t GrammarBuilder::unbounded_tail(Symbols repeated) {
    const auto id = new_rule();
    charge(repeated.size());
    append(repeated, {Kind::Rule, id});
    define(id, {std::move(repeated), {}});
    return id;
}

// tail(n) ::= S tail(n-1) | ... tail(1) ::= S |
uint32_t GrammarBuilder::bounded_tail(const Symbols & repeated, size_t count) {
    uint32_t id = 0;
    for (size_t i = 0; i < count; i++) {
        charge(repeated.size());
        Symbols symbols = repeated;
        if (i > 0) append(symbols, {Kind::Rule, id});
        id = new_rule();
        define(id, {std::move(symbols), {}});
    }
    return id;
}

const std::string * GrammarBuilder::find_undefined() const {
    for (const auto & [name, id] : ids_) {
        if (id >= alternatives_.size() || alternatives_[id].empty()) return &name;
    }
    return nullptr;
}

const uint32_t * GrammarBuilder::find(const std::string & name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? nullptr : &found->second;
}

GrammarRules GrammarBuilder::rules(uint32_t root) const {
    GrammarRules rules;
    rules.root = root;
    rules.symbols.reserve(n_symbols_);
    for (const auto & alternatives : alternatives_) {
        auto & begins = rules.rules.emplace_back();
        for (const auto & symbols : alternatives) {
            begins.push_back(static_cast<uint32_t>(rules.symbols.size()));
            rules.symbols.insert(rules.symbols.end(), symbols.begin(), symbols.end());
            rules.symbols.push_back({Kind::End, 0});
        }
    }
    rules.sets.resize(set_ids_.size());
    for (const auto & [set, id] : set_ids_) rules.sets[id] = set;
    return rules;
}

}  // namespace svc
