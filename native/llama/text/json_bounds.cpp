#include "json_bounds.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "../../common/status.h"
#include "json.h"

namespace svc {

JsonShape json_shape(std::string_view text) {
    JsonShape shape{0, 0};
    // Members of each object that is open; of a text without end, the deepest are counted together.
    std::array<uint32_t, kMostJsonDepth + 1> n_members{};
    int depth = 0;
    bool quoted = false;
    const auto at = [&] { return static_cast<size_t>(std::clamp(depth, 0, kMostJsonDepth)); };
    for (size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (quoted && c == '\\') i++;
        else if (c == '"') quoted = !quoted;
        else if (quoted) continue;
        else if (c == '{' || c == '[') {
            shape.depth = std::max(shape.depth, ++depth);
            n_members[at()] = 0;
        } else if (c == '}' || c == ']') depth--;
        else if (c == ':') shape.n_compared += n_members[at()]++;
    }
    return shape;
}

uint64_t check_json(std::string_view json, const std::string & member, uint64_t n_compared) {
    const auto shape = json_shape(json);
    if (shape.depth > kMostJsonDepth)
        throw StatusError("invalid_argument",
                          member + " is nested deeper than " + std::to_string(kMostJsonDepth) + " levels; send it flatter");
    if (n_compared + shape.n_compared > kMostJsonCompared)
        throw StatusError("invalid_argument",
                          member + " has too many members in its objects, with those before it; one alone may have about 8,900");
    return n_compared + shape.n_compared;
}

uint64_t check_if_json(const std::string & text, const std::string & member, uint64_t n_compared) {
    const auto shape = json_shape(text);
    const auto begin = text.find_first_not_of(" \t\r\n");
    const bool may_be = begin != std::string::npos && (text[begin] == '{' || text[begin] == '[');
    // Whoever tries to read it compares members until it turns out to be no JSON.
    if (may_be && n_compared + shape.n_compared > kMostJsonCompared) return check_json(text, member, n_compared);
    // Parsing and freeing a deep value takes no stack; copying and printing one does.
    if (!may_be) return n_compared;
    if (shape.depth <= kMostJsonDepth || common_json::parse_no_throw(text).is_discarded()) return n_compared + shape.n_compared;
    return check_json(text, member, n_compared);
}

}  // namespace svc
