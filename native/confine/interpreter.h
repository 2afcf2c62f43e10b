#pragma once

#include <string>

namespace svc {

// The loader that an ELF program names (PT_INTERP); empty for a static one. Throws Failure when the file is no 64-bit ELF
// program.
std::string interpreter_of(const std::string & program);

}  // namespace svc
