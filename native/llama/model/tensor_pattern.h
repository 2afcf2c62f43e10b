// Which regular expressions may name tensors.
//
// llama.cpp compiles them with std::regex, whose refusals are no exceptions inside of Node: its own copy of that code, which the
// linker takes, was compiled without exceptions and ends the process. So only what std::regex surely takes is let through.
#pragma once

#include <string>

namespace svc {

// Letters, digits, `_`, `-`, `.`, `^`, `$`, groups, alternatives, classes such as [0-9a-f], one of * + ? behind each, and
// punctuation behind a backslash.
bool is_tensor_pattern(const std::string & pattern);

}  // namespace svc
