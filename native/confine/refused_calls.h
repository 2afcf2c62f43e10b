#pragma once

#include "options.h"

namespace svc {

// Installs the filter. `program_path` is the one address from which execve may read the path of what to run; the program's own
// memory is laid out anew, so that it can only guess it, and a wrong guess ends it. Where the options name neither a device nor a
// writable folder, no file can be opened for writing. False where the kernel has no filters. Throws Failure. Wants no_new_privs
// to be set.
bool refuse_calls(const char * program_path, const Options & options);

// Whether the kernel has filters.
bool has_call_filters();

}  // namespace svc
