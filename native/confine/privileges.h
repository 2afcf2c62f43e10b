#pragma once

namespace svc {

// Gives up groups and capabilities for good, and ties the process's life to its parent's. Throws Failure.
void drop_privileges();

}  // namespace svc
