// Choices about speculative decoding, of an engine and of a job.
#pragma once

#include <cstdint>

namespace svc {

// Auto drafts only while that pays, by measurement.
enum class SpeculationMode : uint8_t { Off, Auto, Always };

// Where drafted tokens may come from.
enum class DraftSource : uint8_t { Any, None, Ngrams, Model };

}  // namespace svc
