// Rows of one size in blocks that are never moved, so what holds a row's address may read it without a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../files/scratch_file.h"

namespace svc {

class RowBlocks {
  public:
    static constexpr uint32_t kBlockRows = 1024;

    // In `file` where there is one, else in memory.
    explicit RowBlocks(size_t row_bytes, std::shared_ptr<ScratchFile> file = nullptr);
    // The first `count` rows lie elsewhere: in a mapped file, which `owner` keeps.
    RowBlocks(size_t row_bytes, std::shared_ptr<ScratchFile> file, const uint8_t * rows, uint32_t count,
              std::shared_ptr<const void> owner);

    size_t row_bytes() const { return row_bytes_; }
    const uint8_t * at(uint32_t row) const { return starts_[row / kBlockRows] + row % kBlockRows * row_bytes_; }
    // Where row `row` is to be written, which is the first that is not. Throws StatusError out_of_memory or index_write_failed.
    uint8_t * next(uint32_t row);
    // Where each block starts.
    const std::vector<const uint8_t *> & starts() const { return starts_; }
    // Of memory, mapped files left out.
    size_t size_bytes() const;

  private:
    using Block = std::shared_ptr<uint8_t>;
    Block new_block() const;
    // The last block is partly elsewhere, where nothing can be added: its rows are copied.
    void adopt_last();

    size_t row_bytes_;
    std::shared_ptr<ScratchFile> file_;
    std::vector<const uint8_t *> starts_;
    // Of the blocks from first_own_ on.
    std::vector<Block> blocks_;
    size_t first_own_ = 0;
    uint32_t n_elsewhere_ = 0;
    std::shared_ptr<const void> owner_;
};

}  // namespace svc
