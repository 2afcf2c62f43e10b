// Turns vectors by one and the same random rotation, after which no number says more than another: what is left of a vector
// when only signs are kept is then about the same for all. Lengths and angles stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace svc {

class Rotation {
  public:
    // The same for the same number of dimensions, in every process: codes in files rely on it.
    explicit Rotation(uint32_t dims);

    // Numbers of a turned vector: dims rounded up to whole words of 64.
    size_t size() const { return size_; }
    // In place, of `size()` numbers.
    void turn(float * numbers) const;

  private:
    static constexpr int kRounds = 4;

    size_t size_;
    // Of each round one after the other: 1 or -1.
    std::vector<float> signs_;
};

}  // namespace svc
