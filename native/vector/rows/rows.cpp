#include "rows.h"

#include <cstring>
#include <utility>

#include "../../common/status.h"
#include "../kernels/kernels.h"
#include "../kernels/unit_vectors.h"

namespace svc {

namespace {

std::shared_ptr<ScratchFile> exact_file(const RowShape & shape) {
    if (shape.storage == Storage::kHalf || shape.exact_folder.empty()) return nullptr;
    return std::make_shared<ScratchFile>(shape.exact_folder);
}

}  // namespace

Rows::Rows(const RowShape & shape)
    : stride_(stride_of(shape.dims)),
      codes_(std::make_shared<RowCodes>(shape.dims, shape.storage)),
      exact_(stride_ * sizeof(uint16_t), exact_file(shape)),
      code_blocks_(codes_->code_bytes()) {}

Rows::Rows(const RowShape & shape, RowKeys keys, const uint8_t * exact, const uint8_t * codes,
           const std::shared_ptr<const void> & owner)
    : stride_(stride_of(shape.dims)),
      codes_(std::make_shared<RowCodes>(shape.dims, shape.storage)),
      keys_(std::move(keys)),
      exact_(stride_ * sizeof(uint16_t), exact_file(shape), exact, keys_.count(), owner),
      code_blocks_(codes_->code_bytes(), nullptr, codes, keys_.count(), owner) {}

void Rows::add(uint64_t key, const float * unit) {
    const auto row = next_row();
    kernels().to_half(unit, reinterpret_cast<uint16_t *>(exact_.next(row)), stride_);
    if (has_codes()) codes_->encode(unit, code_blocks_.next(row));
    keys_.push(key);
}

void Rows::add_from(const Rows & other, uint32_t row) {
    const auto to = next_row();
    std::memcpy(exact_.next(to), other.exact_.at(row), exact_.row_bytes());
    if (has_codes()) std::memcpy(code_blocks_.next(to), other.code(row), code_blocks_.row_bytes());
    keys_.push(other.key(row));
}

uint32_t Rows::next_row() const {
    if (count() >= kMostRows) throw StatusError("out_of_memory", "the index is full");
    return count();
}

}  // namespace svc
