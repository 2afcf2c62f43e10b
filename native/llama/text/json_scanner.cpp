#include "json_scanner.h"

#include "json_bounds.h"

namespace svc {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Whether a number may go on from `text` with `c`: -?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?
bool continues_number(const std::string & text, char c) {
    const char last = text.back();
    const bool has_exponent = text.find_first_of("eE") != std::string::npos;
    const bool has_point = text.find('.') != std::string::npos;
    if (is_digit(c)) return has_point || has_exponent || !(text == "0" || text == "-0");
    if (c == '.') return is_digit(last) && !has_point && !has_exponent;
    if (c == 'e' || c == 'E') return is_digit(last) && !has_exponent;
    return (c == '+' || c == '-') && (last == 'e' || last == 'E');
}

}  // namespace

JsonScanner::State JsonScanner::read(std::string_view bytes) {
    for (char c : bytes) {
        if (!push(c)) return State::Broken;
        n_read_++;
        if (closed_) return State::Closed;
        const bool is_sound = inside_ == Inside::String || (inside_ == Inside::Nothing && !is_space(c));
        // White space at the end of a string may turn out to be the end of what there is.
        if (is_sound && !is_space(c)) n_settled_ = n_read_;
    }
    return State::Open;
}

bool JsonScanner::push(char c) {
    switch (inside_) {
        case Inside::String:
        case Inside::Escape:
        case Inside::Unicode: return push_string(c);
        case Inside::Number: return push_number(c);
        case Inside::Literal:
            if (literal_.front() != c) return false;
            literal_.remove_prefix(1);
            if (literal_.empty()) end_value();
            return true;
        case Inside::Nothing: return is_space(c) ? expect_ != Expect::Object : push_structure(c);
    }
    return false;
}

bool JsonScanner::push_structure(char c) {
    switch (expect_) {
        case Expect::Object: return c == '{' && begin_value(c);
        case Expect::ValueOrEnd:
            if (c == ']') return close(c);
            [[fallthrough]];
        case Expect::Value: return begin_value(c);
        case Expect::KeyOrEnd:
            if (c == '}') return close(c);
            [[fallthrough]];
        case Expect::Key:
            is_key_ = true;
            inside_ = Inside::String;
            return c == '"';
        case Expect::Colon: expect_ = Expect::Value; return c == ':';
        case Expect::CommaOrEnd:
            if (c != ',') return close(c);
            expect_ = open_.back() == '{' ? Expect::Key : Expect::Value;
            return true;
    }
    return false;
}

bool JsonScanner::push_string(char c) {
    if (inside_ == Inside::Unicode) {
        if (--n_hex_ == 0) inside_ = Inside::String;
        return is_hex(c);
    }
    if (inside_ == Inside::Escape) {
        inside_ = c == 'u' ? Inside::Unicode : Inside::String;
        n_hex_ = 4;
        return std::string_view("\"\\/bfnrtu").find(c) != std::string_view::npos;
    }
    if (c == '\\') {
        inside_ = Inside::Escape;
    } else if (c == '"') {
        end_value();
    }
    return static_cast<unsigned char>(c) >= 0x20;
}

bool JsonScanner::push_number(char c) {
    if (continues_number(number_, c)) {
        number_ += c;
        return true;
    }
    if (!is_digit(number_.back())) return false;
    end_value();
    return is_space(c) || push_structure(c);
}

bool JsonScanner::begin_value(char c) {
    if (c == '{' || c == '[') {
        if (open_.size() == kMostJsonDepth) return false;
        open_ += c;
        expect_ = c == '{' ? Expect::KeyOrEnd : Expect::ValueOrEnd;
        return true;
    }
    if (c == '"') {
        is_key_ = false;
        inside_ = Inside::String;
        return true;
    }
    if (c == '-' || is_digit(c)) {
        number_ = c;
        inside_ = Inside::Number;
        return true;
    }
    for (std::string_view literal : {"true", "false", "null"}) {
        if (literal.front() != c) continue;
        literal_ = literal.substr(1);
        inside_ = Inside::Literal;
        return true;
    }
    return false;
}

void JsonScanner::end_value() {
    inside_ = Inside::Nothing;
    expect_ = is_key_ ? Expect::Colon : Expect::CommaOrEnd;
    is_key_ = false;
}

bool JsonScanner::close(char bracket) {
    if (bracket != (open_.back() == '{' ? '}' : ']')) return false;
    open_.pop_back();
    if (open_.empty()) closed_ = true;
    else end_value();
    return true;
}

}  // namespace svc
