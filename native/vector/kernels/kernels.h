// Products of vectors that are stored as half floats, and of their codes. The fastest version for this CPU is chosen once, when
// the first is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace svc {

// Numbers that one step of the widest kernel takes: rows are padded with zeros to a multiple of it.
constexpr size_t kLane = 16;
// Bits that a number of a query has beside codes of one bit.
constexpr int kPlanes = 4;

struct Kernels {
    const char * name;
    // All take a count that is a multiple of kLane.
    float (*product)(const float * query, const uint16_t * row, size_t count);
    float (*row_product)(const uint16_t * one, const uint16_t * other, size_t count);
    void (*to_half)(const float * from, uint16_t * to, size_t count);
    void (*to_float)(const uint16_t * from, float * to, size_t count);
    // Of bytes, whose products of kMostDims fit.
    int32_t (*byte_product)(const int8_t * one, const int8_t * other, size_t count);
    // The sum over the planes of 2^plane times the bits that both have: `planes` holds kPlanes times `words` words, `bits` so
    // many wherever they lie.
    uint32_t (*plane_sum)(const uint8_t * bits, const uint64_t * planes, size_t words);
};

const Kernels & kernels();
// All that this CPU can run, fastest first.
std::vector<const Kernels *> usable_kernels();

}  // namespace svc
