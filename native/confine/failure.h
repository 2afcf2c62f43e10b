#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace svc {

// Ends the launcher before the program runs; main() prints it.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What was tried, and errno's words for why it did not work.
inline Failure system_failure(const std::string & what) { return Failure(what + ": " + std::strerror(errno)); }

}  // namespace svc
