#include "row_blocks.h"

#include <cstring>
#include <utility>

namespace svc {

RowBlocks::RowBlocks(size_t row_bytes, std::shared_ptr<ScratchFile> file) : row_bytes_(row_bytes), file_(std::move(file)) {}

RowBlocks::RowBlocks(size_t row_bytes, std::shared_ptr<ScratchFile> file, const uint8_t * rows, uint32_t count,
                     std::shared_ptr<const void> owner)
    : row_bytes_(row_bytes), file_(std::move(file)), n_elsewhere_(count), owner_(std::move(owner)) {
    for (size_t row = 0; row < count; row += kBlockRows) starts_.push_back(rows + row * row_bytes_);
    first_own_ = starts_.size();
}

uint8_t * RowBlocks::next(uint32_t row) {
    const size_t block = row / kBlockRows;
    if (block < first_own_) adopt_last();
    if (block == starts_.size()) {
        starts_.reserve(block + 1);
        blocks_.push_back(new_block());
        starts_.push_back(blocks_.back().get());
    }
    return blocks_[block - first_own_].get() + row % kBlockRows * row_bytes_;
}

size_t RowBlocks::size_bytes() const { return file_ == nullptr ? blocks_.size() * kBlockRows * row_bytes_ : 0; }

RowBlocks::Block RowBlocks::new_block() const {
    const size_t size = kBlockRows * row_bytes_;
    if (file_ != nullptr) return file_->grow(size);
    return Block(new uint8_t[size], std::default_delete<uint8_t[]>());
}

void RowBlocks::adopt_last() {
    auto block = new_block();
    std::memcpy(block.get(), starts_.back(), n_elsewhere_ % kBlockRows * row_bytes_);
    blocks_.push_back(std::move(block));
    starts_.back() = blocks_.back().get();
    first_own_--;
}

}  // namespace svc
