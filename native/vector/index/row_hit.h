// What a search finds.
#pragma once

#include <cstdint>

namespace svc {

struct RowHit {
    uint32_t row;
    // Cosine.
    float score;
};

}  // namespace svc
