#include "unit_vectors.h"

#include <cmath>
#include <string>

#include "../../common/status.h"
#include "kernels.h"

namespace svc {

namespace {

double length_of(const float * numbers, uint32_t dims) {
    double sum = 0;
    for (uint32_t i = 0; i < dims; i++) sum += static_cast<double>(numbers[i]) * numbers[i];
    return std::sqrt(sum);
}

}  // namespace

size_t stride_of(uint32_t dims) { return (dims + kLane - 1) / kLane * kLane; }

UnitVectors::UnitVectors(const float * numbers, size_t count, uint32_t dims)
    : count_(count), stride_(stride_of(dims)), padded_(count * stride_) {
    for (size_t i = 0; i < count; i++) {
        const float * from = numbers + i * dims;
        // The sum of squares of floats fits into a double, so only a number that is not finite makes it so.
        const double length = length_of(from, dims);
        if (!std::isfinite(length))
            throw StatusError("invalid_argument", "vector " + std::to_string(i) + " has a number that is not finite");
        if (length == 0) continue;
        for (uint32_t j = 0; j < dims; j++) padded_[i * stride_ + j] = static_cast<float>(from[j] / length);
    }
}

}  // namespace svc
