#include "row_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/kernels.h"
#include "../kernels/unit_vectors.h"

namespace svc {

namespace {

// A code begins with what its numbers or signs are multiplied by; of bits their count follows.
constexpr size_t kByteHead = sizeof(float);
constexpr size_t kBitHead = sizeof(float) + sizeof(uint32_t);
constexpr int kMostByte = 127;

template <typename T> T read(const uint8_t * from) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

float most_of(const float * numbers, size_t count) {
    float most = 0;
    for (size_t i = 0; i < count; i++) most = std::max(most, std::fabs(numbers[i]));
    return most;
}

// Returns what one step of a byte is worth.
float to_bytes(const float * numbers, size_t count, int8_t * to) {
    const float step = most_of(numbers, count) / kMostByte;
    const float scale = step > 0 ? 1 / step : 0;
    for (size_t i = 0; i < count; i++) to[i] = static_cast<int8_t>(std::lrintf(numbers[i] * scale));
    return step;
}

}  // namespace

size_t code_bytes_of(uint32_t dims, Storage storage) {
    if (storage == Storage::kByte) return kByteHead + stride_of(dims);
    if (storage == Storage::kBit) return kBitHead + (size_t{dims} + 63) / 64 * sizeof(uint64_t);
    return 0;
}

RowCodes::RowCodes(uint32_t dims, Storage storage)
    : dims_(dims), storage_(storage), rotation_(storage == Storage::kBit ? dims : 0) {}

void RowCodes::encode(const float * unit, uint8_t * to) const {
    if (storage_ == Storage::kByte) encode_bytes(unit, to);
    if (storage_ == Storage::kBit) encode_bits(unit, to);
}

void RowCodes::encode_bytes(const float * unit, uint8_t * to) const {
    const float step = to_bytes(unit, stride_of(dims_), reinterpret_cast<int8_t *>(to + kByteHead));
    std::memcpy(to, &step, sizeof(step));
}

void RowCodes::encode_bits(const float * unit, uint8_t * to) const {
    const auto numbers = turned(unit);
    std::vector<uint64_t> bits(words());
    float length = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < numbers.size(); i++) {
        length += std::fabs(numbers[i]);
        if (numbers[i] <= 0) continue;
        bits[i / 64] |= uint64_t{1} << i % 64;
        count++;
    }
    const float factor = length > 0 ? 1 / length : 0;
    std::memcpy(to, &factor, sizeof(factor));
    std::memcpy(to + sizeof(factor), &count, sizeof(count));
    std::memcpy(to + kBitHead, bits.data(), bits.size() * sizeof(uint64_t));
}

std::vector<float> RowCodes::turned(const float * unit) const {
    std::vector<float> numbers(rotation_.size());
    std::copy(unit, unit + dims_, numbers.begin());
    rotation_.turn(numbers.data());
    return numbers;
}

CodedQuery::CodedQuery(const RowCodes & codes, const float * unit) : codes_(codes) {
    if (codes.storage_ == Storage::kByte) take_bytes(unit);
    if (codes.storage_ == Storage::kBit) take_bits(unit);
}

void CodedQuery::take_bytes(const float * unit) {
    bytes_.resize(stride_of(codes_.dims_));
    step_ = to_bytes(unit, bytes_.size(), bytes_.data());
}

void CodedQuery::take_bits(const float * unit) {
    const auto numbers = codes_.turned(unit);
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    constexpr int kMostPlaneValue = (1 << kPlanes) - 1;
    low_ = *low;
    step_ = (*high - *low) / kMostPlaneValue;
    const float scale = step_ > 0 ? 1 / step_ : 0;
    planes_.resize(kPlanes * codes_.words());
    for (size_t i = 0; i < numbers.size(); i++) {
        const auto value = static_cast<uint32_t>(std::lrintf((numbers[i] - low_) * scale));
        sum_ += low_ + step_ * static_cast<float>(value);
        for (int plane = 0; plane < kPlanes; plane++)
            planes_[static_cast<size_t>(plane) * codes_.words() + i / 64] |= uint64_t{value >> plane & 1} << i % 64;
    }
}

float CodedQuery::of_bytes(const uint8_t * code) const {
    const auto product = kernels().byte_product(bytes_.data(), reinterpret_cast<const int8_t *>(code + kByteHead), bytes_.size());
    return step_ * read<float>(code) * static_cast<float>(product);
}

// The sum of the numbers whose signs are kept as positive, twice, without the sum of all, is the product with the signs.
float CodedQuery::of_bits(const uint8_t * code) const {
    const auto steps = kernels().plane_sum(code + kBitHead, planes_.data(), codes_.words());
    const auto count = read<uint32_t>(code + sizeof(float));
    const float positive = low_ * static_cast<float>(count) + step_ * static_cast<float>(steps);
    return (2 * positive - sum_) * read<float>(code);
}

}  // namespace svc
