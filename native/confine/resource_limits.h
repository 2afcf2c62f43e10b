#pragma once

#include "options.h"

namespace svc {

// Sets soft and hard limits alike. Throws Failure when one cannot be set.
void limit_resources(const Options & options);

}  // namespace svc
