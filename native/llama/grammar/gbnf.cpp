#include "gbnf.h"

#include <algorithm>
#include <string>

#include "../../common/status.h"
#include "../text/utf8_partial.h"
#include "grammar_budget.h"
#include "grammar_builder.h"
#include "left_recursion.h"

namespace svc {

namespace {

using Kind = GrammarSymbol::Kind;
using Symbols = GrammarBuilder::Symbols;
using Alternatives = GrammarBuilder::Alternatives;

constexpr int kMostDepth = 200;
// Longer than any token, and no work to tokenise.
constexpr size_t kMostTokenBytes = 1024;
// Tokenising such a text counts as so many look-ups.
constexpr size_t kPiecesPerToken = 64;
// As in llama.cpp: a larger lower bound is refused, a larger upper bound is none.
constexpr size_t kMostRepetitions = 2000;
constexpr size_t kUnbounded = SIZE_MAX;

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
  public:
    Parser(std::string_view text, const llama_vocab * vocab) : text_(text), vocab_(vocab) {}

    GrammarRules parse() {
        try {
            space(true);
            while (at_ < text_.size()) rule();
        } catch (const GrammarTooLarge &) {
            throw StatusError("grammar_too_complex", "with its repetitions written out the grammar has more than " +
                                                         std::to_string(GrammarBuilder::kMostSymbols) + " symbols" + place() +
                                                         "; repeat less, or give a repetition no upper bound");
        }
        const auto * root = grammar_.find("root");
        if (!root) fail("the grammar has no rule named root");
        if (const auto * name = grammar_.find_undefined()) fail("the rule " + *name + " is not defined");
        return grammar_.rules(*root);
    }

  private:
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

    size_t integer() {
        if (!is_digit(peek())) fail("expected a number");
        size_t value = 0;
        for (; is_digit(peek()); at_++) value = std::min<size_t>(value * 10 + static_cast<size_t>(peek() - '0'), UINT32_MAX);
        return value;
    }

    void rule() {
        const auto id = grammar_.id_of(name());
        space(false);
        if (text_.substr(at_, 3) != "::=") fail("expected ::=");
        at_ += 3;
        space(true);
        grammar_.define(id, alternatives(false));
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
            else if (is_name(c)) grammar_.append(symbols, {Kind::Rule, grammar_.id_of(name())});
            else return symbols;
            item = begin;
            space(nested);
        }
    }

    void literal(Symbols & symbols) {
        at_++;
        while (peek() != '"') {
            const uint32_t c = character();
            grammar_.append_set(symbols, {{c, c}});
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
        grammar_.append_set(symbols, std::move(ranges), inverse);
    }

    void any(Symbols & symbols) {
        at_++;
        grammar_.append_set(symbols, {{0, 0x10FFFF}});
    }

    void group(Symbols & symbols) {
        if (++depth_ > kMostDepth) fail("groups are nested too deeply");
        at_++;
        space(true);
        const auto id = grammar_.new_rule();
        grammar_.define(id, alternatives(true));
        expect(')');
        grammar_.append(symbols, {Kind::Rule, id});
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
            const size_t id = integer();
            expect(']');
            expect('>');
            grammar_.append(symbols, {kind, static_cast<uint32_t>(id)});
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
        grammar_.append(symbols, {kind, static_cast<uint32_t>(tokens[0])});
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
        size_t least = 0, most = kUnbounded;
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
        if (most > kMostRepetitions) most = kUnbounded;
        grammar_.repeat(symbols, item, least, most == kUnbounded ? nullptr : &most);
    }

    void bounds(bool nested, size_t & least, size_t & most) {
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

    std::string_view text_;
    const llama_vocab * vocab_;
    size_t at_ = 0;
    int depth_ = 0;
    GrammarBuilder grammar_;
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
