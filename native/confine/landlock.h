#pragma once

#include "options.h"

namespace svc {

// The version of the kernel's Landlock interface; 0 where there is none.
int landlock_version();

// From now on this process and what it becomes can open only what the options name and what every program needs (libraries, facts
// about the machine). Does nothing where the kernel has no Landlock. Throws Failure. Wants no_new_privs to be set.
void restrict_files(const Options & options);

}  // namespace svc
