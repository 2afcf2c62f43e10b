// How deep JSON may be nested that comes from outside or from a model. llama.cpp walks JSON and renders and parses it
// recursively, on threads whose stacks are finite: what is deeper must not reach it.
#pragma once

#include <string>
#include <string_view>

namespace svc {

// llama.cpp's chat parser takes the most stack for a level: kilobytes, and a thread on macOS has 512 of them unless asked for
// more.
constexpr int kMostJsonDepth = 128;

// The deepest nesting of brackets outside strings. Also counts in text that is no JSON, of which it then says nothing of use.
int json_depth(std::string_view text);

// Throws StatusError invalid_argument that names the member.
void check_json_depth(std::string_view json, const std::string & member);

// The same for a text that need not be JSON: one that cannot be parsed as JSON passes, however many brackets are in it.
void check_depth_if_json(const std::string & text, const std::string & member);

}  // namespace svc
