#include "engine_limits.h"

#include <algorithm>

namespace svc {

std::unique_ptr<CoreArbiter::Member> join_core_arbitration(const EngineLimits & limits) {
    const bool on_device = limits.weights.device > 0;
    return std::make_unique<CoreArbiter::Member>(on_device ? 0 : static_cast<uint32_t>(std::max(0, limits.n_threads)));
}

}  // namespace svc
