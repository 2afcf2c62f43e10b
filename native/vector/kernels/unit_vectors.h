// Vectors of length 1, padded to whole lanes, so that a product of two is the cosine of their angle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace svc {

class UnitVectors {
  public:
    // `numbers` holds whole vectors of `dims` numbers. A vector of zeros stays one: it is as near to everything.
    // Throws StatusError invalid_argument for a number that is not finite.
    UnitVectors(const float * numbers, size_t count, uint32_t dims);

    size_t count() const { return count_; }
    const float * at(size_t i) const { return padded_.data() + i * stride_; }

  private:
    size_t count_;
    size_t stride_;
    std::vector<float> padded_;
};

// Numbers that a row takes, dims rounded up to whole lanes.
size_t stride_of(uint32_t dims);

}  // namespace svc
