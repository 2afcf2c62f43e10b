// How deep JSON may be nested that comes from outside or from a model, and how many members it may have. llama.cpp walks JSON and
// renders and parses it recursively, on threads whose stacks are finite: what is deeper must not reach it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace svc {

// llama.cpp's chat parser takes the most stack for a level: kilobytes, and a thread on macOS has 512 of them unless asked for
// more.
constexpr int kMostJsonDepth = 128;

// llama.cpp's objects keep their members in order and compare each new name with all that are there. So many comparisons of one
// text take a fifth of a second, and 8,900 members of one object need as many.
constexpr uint64_t kMostJsonCompared = 40'000'000;

struct JsonShape {
    int depth;            // the deepest nesting of brackets outside strings
    uint64_t n_compared;  // names that are compared while it is read
};

// Also counts in text that is no JSON, of which it then says nothing of use.
JsonShape json_shape(std::string_view text);

// Gives back `n_compared`, what was compared for the request's texts before it, with its own. Throws StatusError invalid_argument
// that names the member.
uint64_t check_json(std::string_view json, const std::string & member, uint64_t n_compared = 0);

// The same for a text that need not be JSON: one that cannot be parsed as JSON passes, however many brackets are in it.
uint64_t check_if_json(const std::string & text, const std::string & member, uint64_t n_compared);

}  // namespace svc
