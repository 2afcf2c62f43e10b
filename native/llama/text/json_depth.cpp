#include "json_depth.h"

#include <algorithm>

#include "../../common/status.h"
#include "json.h"

namespace svc {

int json_depth(std::string_view text) {
    int depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (quoted && c == '\\') i++;
        else if (c == '"') quoted = !quoted;
        else if (!quoted && (c == '{' || c == '[')) deepest = std::max(deepest, ++depth);
        else if (!quoted && (c == '}' || c == ']')) depth--;
    }
    return deepest;
}

void check_json_depth(std::string_view json, const std::string & member) {
    if (json_depth(json) <= kMostJsonDepth) return;
    throw StatusError("invalid_argument",
                      member + " is nested deeper than " + std::to_string(kMostJsonDepth) + " levels; send it flatter");
}

void check_depth_if_json(const std::string & text, const std::string & member) {
    // Parsing and freeing a deep value takes no stack; copying and printing one does.
    if (json_depth(text) <= kMostJsonDepth || common_json::parse_no_throw(text).is_discarded()) return;
    check_json_depth(text, member);
}

}  // namespace svc
