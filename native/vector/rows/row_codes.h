// Short stand-ins of rows, which searches compare first: a byte for each number, or a bit. The best of them are then compared
// exactly.
//
// Bits are the signs of the turned vector, with what the signs alone get wrong on average (RaBitQ, Gao and Long 2024): the
// estimate of a cosine has no bias, and an error that shrinks with the root of the dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rotation.h"

namespace svc {

// As it is written in files.
enum class Storage : uint32_t { kHalf = 0, kByte = 1, kBit = 2 };

// Of one row's code; 0: there are none.
size_t code_bytes_of(uint32_t dims, Storage storage);

class RowCodes {
  public:
    // Storage kHalf: there are none.
    RowCodes(uint32_t dims, Storage storage);

    Storage storage() const { return storage_; }
    size_t code_bytes() const { return code_bytes_of(dims_, storage_); }
    // Of a vector of length 1 in whole lanes.
    void encode(const float * unit, uint8_t * to) const;

  private:
    friend class CodedQuery;
    void encode_bytes(const float * unit, uint8_t * to) const;
    void encode_bits(const float * unit, uint8_t * to) const;
    std::vector<float> turned(const float * unit) const;
    size_t words() const { return rotation_.size() / 64; }

    uint32_t dims_;
    Storage storage_;
    Rotation rotation_;
};

// A vector that codes are compared with.
class CodedQuery {
  public:
    CodedQuery(const RowCodes & codes, const float * unit);
    // About the cosine.
    float estimate(const uint8_t * code) const { return codes_.storage_ == Storage::kByte ? of_bytes(code) : of_bits(code); }

  private:
    void take_bytes(const float * unit);
    void take_bits(const float * unit);
    float of_bytes(const uint8_t * code) const;
    float of_bits(const uint8_t * code) const;

    const RowCodes & codes_;
    // kByte: number i is bytes_[i] * step_. kBit: number i of the turned vector is low_ + step_ * (its bits in planes_).
    std::vector<int8_t> bytes_;
    std::vector<uint64_t> planes_;
    float step_ = 0;
    float low_ = 0;
    float sum_ = 0;
};

}  // namespace svc
