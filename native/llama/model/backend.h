// The process-wide ggml and llama.cpp state: backends are loaded once, log lines are kept for error messages.
#pragma once

#include <string>
#include <vector>

#include "ggml-cpu.h"

namespace svc {

// Loads the ggml backends that lie in `folder` (the best CPU variant, or the one that SVC_CPU_VARIANT names; CUDA). Safe to call
// from every environment. Throws StatusError invalid_argument for a variant that is not there or that this CPU cannot run.
void load_backends(const std::string & folder);

// A backend library for devices beside the CPU, of whose devices none is used, and why.
struct UnusedBackend {
    std::string file;
    std::string reason;
};

// They lie in the folder that the backends were loaded from.
const std::vector<UnusedBackend> & unused_backends();

// What CUDA the driver can do and the backend library was built with, as CUDA counts (12020 is 12.2); 0: not loaded.
struct CudaVersions {
    int driver;
    int toolkit;
};
CudaVersions cuda_versions();

// The first strategy other than none holds for the whole process, as ggml's do.
void use_numa(ggml_numa_strategy strategy);

// The error lines that llama.cpp logged on this thread since the last call, one line each; they say why a load failed.
std::string take_error_log();

}  // namespace svc
