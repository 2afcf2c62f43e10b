// UTF-8 as it comes out of a model, byte by byte, and as JSON wants it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace svc {

// Length of the longest prefix that does not end inside a character.
size_t complete_utf8(std::string_view text);

bool is_utf8(std::string_view text);

// Appends `text` as the body of a JSON string: escaped, without quotes; bytes that are no UTF-8 become U+FFFD.
void append_json_body(std::string & to, std::string_view text);

}  // namespace svc
