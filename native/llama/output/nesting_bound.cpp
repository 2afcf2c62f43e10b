#include "nesting_bound.h"

#include <algorithm>

#include "../text/json_bounds.h"

namespace svc {

namespace {

// Brackets in an answer whose closing ones are not known. Half of an engine thread's stack on Linux (8 MB) holds as many levels.
constexpr int kMostOpened = 1000;

void raise(int & depth, int to) { depth = std::max(depth, to); }

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The character is part of a number, or of true, null, True, None ...
bool is_scalar(char c) { return std::string_view("+-.0123456789eEtrufalsnTFNo").find(c) != std::string_view::npos; }

}  // namespace

void NestingBound::read(std::string_view bytes) {
    for (char c : bytes) push(c);
}

bool NestingBound::exceeded() const { return names_brackets_ ? n_opened_ > kMostOpened : deepest_ > kMostJsonDepth; }

void NestingBound::push(char c) {
    if (c == '[' || c == '{') n_opened_++;
    Depths next{0, -1, -1, -1, -1, -1};  // a value may begin anywhere
    read_before_value(c, next);
    if (depths_[BehindValue] >= 0) read_behind_value(c, next);
    read_string(Double, DoubleEscape, '"', c, next);
    read_string(Single, SingleEscape, '\'', c, next);
    depths_ = next;
    raise(deepest_, depths_[BeforeValue]);
}

// What may not come here ends the value: no depth goes on from it.
void NestingBound::read_before_value(char c, Depths & next) const {
    const int depth = depths_[BeforeValue];
    if (c == '[' || c == '{') raise(next[BeforeValue], depth + 1);
    else if (c == ']' || c == '}') raise(next[BehindValue], depth - 1);
    else if (c == '"') raise(next[Double], depth);
    else if (c == '\'') raise(next[Single], depth);
    else if (is_scalar(c)) raise(next[BehindValue], depth);
    else if (is_space(c)) raise(next[BeforeValue], depth);
}

void NestingBound::read_behind_value(char c, Depths & next) const {
    const int depth = depths_[BehindValue];
    if (c == ',' || c == ':') raise(next[BeforeValue], depth);
    else if (c == ']' || c == '}') raise(next[BehindValue], depth - 1);
    else if (is_scalar(c) || is_space(c)) raise(next[BehindValue], depth);
}

void NestingBound::read_string(State string, State escape, char quote, char c, Depths & next) const {
    raise(next[c == quote ? BehindValue : c == '\\' ? escape : string], depths_[string]);
    raise(next[string], depths_[escape]);
}

}  // namespace svc
