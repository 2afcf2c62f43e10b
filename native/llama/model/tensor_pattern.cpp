#include "tensor_pattern.h"

#include <cstring>

namespace svc {

namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool is_one_of(char c, const char * all) { return c != '\0' && std::strchr(all, c) != nullptr; }

// Reads what stands behind `[`: members and rising ranges up to `]`, at least one. Returns where the class ends, or 0.
size_t end_of_class(const std::string & pattern, size_t at) {
    const size_t begin = at;
    while (at < pattern.size() && is_word(pattern[at])) {
        const bool is_range = at + 2 < pattern.size() && pattern[at + 1] == '-';
        if (is_range && (!is_word(pattern[at + 2]) || pattern[at + 2] < pattern[at])) return 0;
        at += is_range ? 3 : 1;
    }
    return at > begin && at < pattern.size() && pattern[at] == ']' ? at + 1 : 0;
}

}  // namespace

bool is_tensor_pattern(const std::string & pattern) {
    size_t n_open = 0;
    bool may_repeat = false;
    for (size_t at = 0; at < pattern.size();) {
        const char c = pattern[at++];
        if (is_one_of(c, "*+?")) {
            if (!may_repeat) return false;
            may_repeat = false;
            continue;
        }
        may_repeat = !is_one_of(c, "(|^$");
        if (c == '(') n_open++;
        else if (c == ')') {
            if (n_open-- == 0) return false;
        } else if (c == '[') {
            at = end_of_class(pattern, at);
            if (at == 0) return false;
        } else if (c == '\\') {
            if (at == pattern.size() || !is_one_of(pattern[at++], ".|()*+?^$-[]{}\\/dw")) return false;
        } else if (!is_word(c) && !is_one_of(c, ".-|^$")) {
            return false;
        }
    }
    return n_open == 0 && !pattern.empty();
}

}  // namespace svc
