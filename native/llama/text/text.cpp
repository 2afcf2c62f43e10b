#include "text.h"

#include <cstdint>

namespace svc {

namespace {

constexpr const char * kReplacement = "\xEF\xBF\xBD";

// Bytes that a character with this first byte has; 0 for a byte that starts none (RFC 3629).
size_t sequence_length(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    if (first >= 0xF0 && first <= 0xF4) return 4;
    return 0;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Length of the valid character at the start of `text`, or 0. Overlong forms and surrogates are not valid.
size_t valid_character(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const size_t length = sequence_length(first);
    if (length == 0 || length > text.size()) return 0;
    for (size_t i = 1; i < length; i++) {
        if (!is_continuation(text[i])) return 0;
    }
    if (length < 3) return length;
    const auto second = static_cast<unsigned char>(text[1]);
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second > 0x9F) return 0;
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    return length;
}

void append_escaped(std::string & to, char c) {
    static const char * const digits = "0123456789abcdef";
    switch (c) {
        case '"': to += "\\\""; return;
        case '\\': to += "\\\\"; return;
        case '\n': to += "\\n"; return;
        case '\r': to += "\\r"; return;
        case '\t': to += "\\t"; return;
        default:
            to += "\\u00";
            to += digits[(static_cast<unsigned char>(c) >> 4) & 15];
            to += digits[static_cast<unsigned char>(c) & 15];
    }
}

bool is_plain(char c) {
    return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80;
}

}  // namespace

size_t complete_utf8(std::string_view text) {
    for (size_t back = 1; back <= 3 && back <= text.size(); back++) {
        const char c = text[text.size() - back];
        if (is_continuation(c)) continue;
        return sequence_length(static_cast<unsigned char>(c)) > back ? text.size() - back : text.size();
    }
    return text.size();
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const size_t length = valid_character(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

void append_json_body(std::string & to, std::string_view text) {
    size_t at = 0;
    while (at < text.size()) {
        size_t run = at;
        while (run < text.size() && is_plain(text[run])) run++;
        to.append(text.substr(at, run - at));
        at = run;
        if (at == text.size()) return;
        const char c = text[at];
        if (static_cast<unsigned char>(c) < 0x80) {
            append_escaped(to, c);
            at++;
            continue;
        }
        const size_t length = valid_character(text.substr(at));
        if (length == 0) to += kReplacement;
        else to.append(text.substr(at, length));
        at += length == 0 ? 1 : length;
    }
}

}  // namespace svc
