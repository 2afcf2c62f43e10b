// The process-wide ggml and llama.cpp state: backends are loaded once, log lines are kept for error messages.
#pragma once

#include <string>

namespace svc {

// Loads the ggml backends that lie in `folder` (CPU variants, CUDA). Safe to call from every environment.
void load_backends(const std::string & folder);

// The error lines that llama.cpp logged on this thread since the last call, one line each; they say why a load failed.
std::string take_error_log();

}  // namespace svc
