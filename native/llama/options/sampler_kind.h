// The samplers that a job may put in an order of its own.
#pragma once

#include <cstdint>

namespace svc {

enum class SamplerKind : uint8_t { Penalties, Dry, TopNSigma, TopK, Typical, TopP, MinP, Xtc, Temperature, AdaptiveP };

}  // namespace svc
