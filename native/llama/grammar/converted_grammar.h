// What llama.cpp's converter writes of JSON schemas, put right: some of its rules allow what is no JSON, or no value of the
// schema.
#pragma once

#include <string>
#include <string_view>

namespace svc {

// The converter knows no numbers between bounds. Where a schema has the constant [kGrammarMark, "GBNF"], that grammar stands for
// the value; ts/server/domains/completions/compat/schema writes it.
constexpr const char * kGrammarMark = R"("[\"\\u0000gbnf\",)";

// What names of rules are made of.
inline bool is_rule_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

// The end of what begins at `at` and holds no names: a literal, a class, a token or a number of repetitions; of any other sign,
// the place behind it.
size_t end_of_nameless(std::string_view text, size_t at);

// The same grammar with sound rules: numbers that a double can hold, characters that count as one wherever JSON is read, names
// of further properties without escapes (an escape could spell a name that is excluded), and what is marked. A grammar of the
// user's own does not come here.
std::string put_right(const std::string & converted);

// A grammar whose texts are those of `a`, and those of `b` behind `before_b`; each has a rule named root.
std::string either_of(const std::string & a, const std::string & before_b, const std::string & b);

}  // namespace svc
