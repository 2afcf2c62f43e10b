#include "gbnf.h"

#include <algorithm>
#include <map>
#include <string>

#include "../../common/status.h"
#include "../text/utf8_partial.h"
#include "grammar_budget.h"
#include "left_recursion.h"

namespace svc {

namespace {

using Kind = GrammarSymbol::Kind;
using Symbols = std::vector<GrammarSymbol>;

constexpr int kMostDepth = 200;
// Memory of a grammar whose repetitions are written out, in symbols.
constexpr size_t kMostSymbols = 1000000;
// What a rule and an alternative take beside their symbols, in symbols.
constexpr size_t kRuleSymbols = 2;
constexpr size_t kAlternativeSymbols = 1;
// Longer than any token, and no work to tokenise.
constexpr size_t kMostTokenBytes = 1024;
// Tokenising such a text counts as so many look-ups.
constexpr size_t kPiecesPerToken = 64;
// As in llama.cpp: a larger lower bound is refused, a larger upper bound is none.
constexpr uint64_t kMostRepetitions = 2000;
constexpr uint64_t kUnbounded = UINT64_MAX;

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

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

class Parser {
  public:
    Parser(std::string_view text, const llama_vocab * vocab) : text_(text), vocab_(vocab) {}

    GrammarRules parse() {
        space(true);
        while (at_ < text_.size()) rule();
        const auto root = ids_.find("root");
        if (root == ids_.end()) fail("the grammar has no rule named root");
        for (const auto & [name, id] : ids_) {
            if (id >= alternatives_.size() || alternatives_[id].empty()) fail("the rule " + name + " is not defined");
        }
        return flatten(root->second);
    }

  private:
    using Alternatives = std::vector<Symbols>;

    [[noreturn]] void fail(const std::string & what) const {
        throw StatusError("invalid_grammar",
                          "the grammar cannot be parsed: " + what + place() + "; see the GBNF guide of llama.cpp");
    }

    std::string place() const {
        const auto before = text_.substr(0, std::min(at_, text_.size()));
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        const size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
        return " (line " + std::to_string(line) + ", column " + std::to_string(before.size() - begin + 1) + ")";
    }

    // It is called before so much is taken: a few bytes can stand for any number of symbols.
    void charge(size_t n_symbols) {
        GrammarBudget::spend(1 + n_symbols / 8);
        n_symbols_ += n_symbols;
        if (n_symbols_ <= kMostSymbols) return;
        throw StatusError("grammar_too_complex", "with its repetitions written out the grammar has more than " +
                                                     std::to_string(kMostSymbols) + " symbols" + place() +
                                                     "; repeat less, or give a repetition no upper bound");
    }

    void append(Symbols & symbols, GrammarSymbol symbol) {
        charge(1);
        symbols.push_back(symbol);
    }

    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    void expect(char c) {
        if (peek() != c) fail(std::string("expected ") + c);
        at_++;
    }

    void space(bool newline_ok) {
        for (;; at_++) {
            const char c = peek();
            if (c == '#') {
                while (at_ < text_.size() && text_[at_] != '\r' && text_[at_] != '\n') at_++;
                at_--;
            } else if (c != ' ' && c != '\t' && !(newline_ok && (c == '\r' || c == '\n'))) {
                return;
            }
        }
    }

    std::string name() {
        const size_t begin = at_;
        while (is_name(peek())) at_++;
        if (at_ == begin) fail("expected a rule's name");
        return std::string(text_.substr(begin, at_ - begin));
    }

    uint64_t integer() {
        if (!is_digit(peek())) fail("expected a number");
        uint64_t value = 0;
        for (; is_digit(peek()); at_++) value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(peek() - '0'), UINT32_MAX);
        return value;
    }

    uint32_t id_of(const std::string & name) {
        return ids_.emplace(name, static_cast<uint32_t>(n_rules_)).second ? n_rules_++ : ids_[name];
    }

    // The symbols have been charged.
    void define(uint32_t id, Alternatives alternatives) {
        charge(kRuleSymbols + kAlternativeSymbols * alternatives.size());
        if (alternatives_.size() <= id) alternatives_.resize(id + 1);
        alternatives_[id] = std::move(alternatives);
    }

    void rule() {
        const auto id = id_of(name());
        space(false);
        if (text_.substr(at_, 3) != "::=") fail("expected ::=");
        at_ += 3;
        space(true);
        define(id, alternatives(false));
        if (peek() == '\r') at_ += peek(1) == '\n' ? 2 : 1;
        else if (peek() == '\n') at_++;
        else if (at_ < text_.size()) fail("expected the end of the rule");
        space(true);
    }

    Alternatives alternatives(bool nested) {
        Alternatives all{sequence(nested)};
        while (peek() == '|') {
            at_++;
            space(true);
            all.push_back(sequence(nested));
        }
        return all;
    }

    Symbols sequence(bool nested) {
        Symbols symbols;
        size_t item = 0;  // where the last item begins: what a repetition repeats
        for (;;) {
            const char c = peek();
            if (c == '*' || c == '+' || c == '?' || c == '{') {
                repeat(symbols, item, nested);
                continue;
            }
            const size_t begin = symbols.size();
            if (c == '"') literal(symbols);
            else if (c == '[') set(symbols);
            else if (c == '.') any(symbols);
            else if (c == '<' || c == '!') token(symbols);
            else if (c == '(') group(symbols);
            else if (is_name(c)) append(symbols, {Kind::Rule, id_of(name())});
            else return symbols;
            item = begin;
            space(nested);
        }
    }

    void literal(Symbols & symbols) {
        at_++;
        while (peek() != '"') {
            const uint32_t c = character();
            append(symbols, {Kind::Set, set_id({{c, c}})});
        }
        at_++;
    }

    void set(Symbols & symbols) {
        at_++;
        const bool inverse = peek() == '^';
        if (inverse) at_++;
        CodePointSet ranges;
        while (peek() != ']') {
            const uint32_t low = character();
            uint32_t high = low;
            if (peek() == '-' && peek(1) != ']') {
                at_++;
                high = character();
            }
            GrammarBudget::spend();
            ranges.push_back({low, high});
        }
        at_++;
        if (ranges.empty()) return;  // as in llama.cpp: nothing at all, inverse or not
        auto ordered = merged(std::move(ranges));
        append(symbols, {Kind::Set, set_id(inverse ? complement(ordered) : ordered)});
    }

    void any(Symbols & symbols) {
        at_++;
        append(symbols, {Kind::Set, set_id({{0, 0x10FFFF}})});
    }

    void group(Symbols & symbols) {
        if (++depth_ > kMostDepth) fail("groups are nested too deeply");
        at_++;
        space(true);
        const auto id = static_cast<uint32_t>(n_rules_++);
        define(id, alternatives(true));
        expect(')');
        append(symbols, {Kind::Rule, id});
        depth_--;
    }

    // <[id]> or <text>, where the text with its brackets is one token; ! in front: any other token.
    void token(Symbols & symbols) {
        const auto kind = peek() == '!' ? Kind::TokenNot : Kind::Token;
        if (kind == Kind::TokenNot) at_++;
        const size_t begin = at_;
        expect('<');
        if (peek() == '[') {
            at_++;
            const uint64_t id = integer();
            expect(']');
            expect('>');
            append(symbols, {kind, static_cast<uint32_t>(id)});
            return;
        }
        while (peek() != '>' && at_ < text_.size()) at_++;
        expect('>');
        if (at_ - begin > kMostTokenBytes) fail("this is longer than any token");
        GrammarBudget::spend(kPiecesPerToken);
        llama_token tokens[2];
        const int32_t count =
            llama_tokenize(vocab_, text_.data() + begin, static_cast<int32_t>(at_ - begin), tokens, 2, false, true);
        if (count != 1) fail("this is not one token of the model");
        append(symbols, {kind, static_cast<uint32_t>(tokens[0])});
    }

    uint32_t character() {
        if (at_ >= text_.size()) fail("unexpected end");
        if (peek() == '\\') return escape();
        Utf8Partial partial;
        do {
            if (at_ >= text_.size() || !partial.push(static_cast<uint8_t>(text_[at_++]))) fail("this is not UTF-8");
        } while (!partial.none());
        return partial.value;
    }

    uint32_t escape() {
        const char c = peek(1);
        at_ += 2;
        switch (c) {
            case 'x': return hex(2);
            case 'u': return hex(4);
            case 'U': return hex(8);
            case 't': return '\t';
            case 'r': return '\r';
            case 'n': return '\n';
            case '\\':
            case '"':
            case '[':
            case ']':
            case '-': return static_cast<uint32_t>(c);
            default: fail("unknown escape");
        }
    }

    uint32_t hex(int n_digits) {
        uint32_t value = 0;
        for (int i = 0; i < n_digits; i++, at_++) {
            const char c = peek();
            if (is_digit(c)) value = value * 16 + static_cast<uint32_t>(c - '0');
            else if (c >= 'a' && c <= 'f') value = value * 16 + static_cast<uint32_t>(c - 'a' + 10);
            else if (c >= 'A' && c <= 'F') value = value * 16 + static_cast<uint32_t>(c - 'A' + 10);
            else fail("expected " + std::to_string(n_digits) + " hexadecimal digits");
        }
        return std::min<uint32_t>(value, 0x110000);
    }

    void repeat(Symbols & symbols, size_t item, bool nested) {
        uint64_t least = 0, most = kUnbounded;
        const char c = peek();
        if (c == '{') {
            bounds(nested, least, most);
        } else {
            at_++;
            if (c == '+') least = 1;
            if (c == '?') most = 1;
        }
        space(nested);
        if (item == symbols.size()) fail("there is nothing to repeat");
        if (least > kMostRepetitions) fail("more than " + std::to_string(kMostRepetitions) + " repetitions are not supported");
        if (most != kUnbounded && most > kMostRepetitions) most = kUnbounded;
        const Symbols repeated(symbols.begin() + static_cast<std::ptrdiff_t>(item), symbols.end());
        symbols.resize(item);
        n_symbols_ -= repeated.size();
        charge(least * repeated.size());
        for (uint64_t i = 0; i < least; i++) symbols.insert(symbols.end(), repeated.begin(), repeated.end());
        if (most == kUnbounded) append(symbols, {Kind::Rule, unbounded_tail(repeated)});
        else if (most > least) append(symbols, {Kind::Rule, bounded_tail(repeated, most - least)});
    }

    void bounds(bool nested, uint64_t & least, uint64_t & most) {
        at_++;
        space(nested);
        least = integer();
        most = least;
        space(nested);
        if (peek() == ',') {
            at_++;
            space(nested);
            most = is_digit(peek()) ? integer() : kUnbounded;
            space(nested);
        }
        if (most < least) fail("the bounds of a repetition are the wrong way round");
        expect('}');
    }

    // tail ::= S tail |
    uint32_t unbounded_tail(Symbols repeated) {
        const auto id = static_cast<uint32_t>(n_rules_++);
        charge(repeated.size());
        append(repeated, {Kind::Rule, id});
        define(id, {std::move(repeated), {}});
        return id;
    }

    // tail(n) ::= S tail(n-1) | ... tail(1) ::= S |
    uint32_t bounded_tail(const Symbols & repeated, uint64_t count) {
        uint32_t id = 0;
        for (uint64_t i = 0; i < count; i++) {
            charge(repeated.size());
            Symbols symbols = repeated;
            if (i > 0) append(symbols, {Kind::Rule, id});
            id = static_cast<uint32_t>(n_rules_++);
            define(id, {std::move(symbols), {}});
        }
        return id;
    }

    uint32_t set_id(const CodePointSet & set) {
        GrammarBudget::spend(set.size());
        return set_ids_.emplace(set, static_cast<uint32_t>(set_ids_.size())).first->second;
    }

    GrammarRules flatten(uint32_t root) const {
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

    std::string_view text_;
    const llama_vocab * vocab_;
    size_t at_ = 0;
    int depth_ = 0;
    uint32_t n_rules_ = 0;
    size_t n_symbols_ = 0;
    std::map<std::string, uint32_t> ids_;
    std::map<CodePointSet, uint32_t> set_ids_;
    std::vector<Alternatives> alternatives_;
};

}  // namespace

GrammarRules parse_gbnf(std::string_view text, const llama_vocab * vocab) {
    auto rules = Parser(text, vocab).parse();
    GrammarBudget::look();
    if (has_left_recursion(rules))
        throw StatusError("invalid_grammar",
                          "the grammar has left recursion: a rule begins with itself, at once or through others");
    return rules;
}

}  // namespace svc
