// Gathers the rules of a grammar whose repetitions are written out, within a bound of its memory: a few bytes of text can stand
// for any number of symbols.
#pragma once

#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gbnf.h"

namespace svc {

// The grammar has more symbols than may be held.
class GrammarTooLarge : public std::exception {
  public:
    const char * what() const noexcept override { return "the grammar has too many symbols"; }
};

// All that adds something throws GrammarTooLarge, and GrammarLate (grammar_budget.h).
class GrammarBuilder {
  public:
    using Symbols = std::vector<GrammarSymbol>;
    using Alternatives = std::vector<Symbols>;

    static constexpr size_t kMostSymbols = 1000000;

    // The rule of that name, which may be defined later.
    uint32_t id_of(const std::string & name);
    // A rule without a name.
    uint32_t new_rule() { return n_rules_++; }
    // The symbols have been counted when they were appended.
    void define(uint32_t id, Alternatives alternatives);
    void append(Symbols & symbols, GrammarSymbol symbol);
    // Appends one character out of the ranges, which may overlap.
    void append_set(Symbols & symbols, CodePointSet ranges, bool inverse = false);
    // Repeats what stands behind `begin`; without `most` any number of times above `least`.
    void repeat(Symbols & symbols, size_t begin, size_t least, const size_t * most);

    // A name that is used and not defined; null: all are defined.
    const std::string * find_undefined() const;
    const uint32_t * find(const std::string & name) const;
    GrammarRules rules(uint32_t root) const;

  private:
    // It is called before so much is taken.
    void charge(size_t n_symbols);
    uint32_t unbounded_tail(Symbols repeated);
    uint32_t bounded_tail(const Symbols & repeated, size_t count);

    uint32_t n_rules_ = 0;
    size_t n_symbols_ = 0;
    std::map<std::string, uint32_t> ids_;
    std::map<CodePointSet, uint32_t> set_ids_;
    std::vector<Alternatives> alternatives_;
};

}  // namespace svc
