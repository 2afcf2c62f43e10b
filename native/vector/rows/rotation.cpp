#include "rotation.h"

#include <cmath>

namespace svc {

namespace {

size_t power_of_two_in(size_t size) {
    size_t power = 1;
    while (2 * power <= size) power *= 2;
    return power;
}

// The fast Walsh-Hadamard transform, scaled so that lengths stay.
void transform(float * numbers, size_t count) {
    for (size_t half = 1; half < count; half *= 2) {
        for (size_t from = 0; from < count; from += 2 * half) {
            for (size_t i = from; i < from + half; i++) {
                const float sum = numbers[i] + numbers[i + half];
                numbers[i + half] = numbers[i] - numbers[i + half];
                numbers[i] = sum;
            }
        }
    }
    const float scale = 1 / std::sqrt(static_cast<float>(count));
    for (size_t i = 0; i < count; i++) numbers[i] *= scale;
}

}  // namespace

Rotation::Rotation(uint32_t dims) : size_((dims + 63) / 64 * 64), signs_(kRounds * size_) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (auto & sign : signs_) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sign = state >> 63 ? 1.0f : -1.0f;
    }
}

// Where the size is no power of two, the first and the last stretch that is one take turns.
void Rotation::turn(float * numbers) const {
    const size_t stretch = power_of_two_in(size_);
    for (int round = 0; round < kRounds; round++) {
        const float * signs = signs_.data() + static_cast<size_t>(round) * size_;
        for (size_t i = 0; i < size_; i++) numbers[i] *= signs[i];
        transform(numbers + (round % 2 == 0 ? 0 : size_ - stretch), stretch);
    }
}

}  // namespace svc
