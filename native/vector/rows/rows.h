// The vectors of an index in the order in which they came, as half floats and, where searches first compare short codes, as these
// too. Rows are never moved or written again; a removed row is marked and stays until the index is compacted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "row_blocks.h"
#include "row_codes.h"
#include "row_keys.h"

namespace svc {

struct RowShape {
    uint32_t dims = 0;
    Storage storage = Storage::kHalf;
    // Where codes are compared: the folder of a file for the rows themselves, which are read for the best of a search alone.
    // Empty: they are in memory too.
    std::string exact_folder;
};

class Rows {
  public:
    // Both may throw StatusError index_write_failed.
    explicit Rows(const RowShape & shape);
    // The first rows lie elsewhere: in a mapped file, which `owner` keeps. Without codes, `codes` is not read.
    Rows(const RowShape & shape, RowKeys keys, const uint8_t * exact, const uint8_t * codes,
         const std::shared_ptr<const void> & owner);

    // Numbers of a row.
    size_t stride() const { return stride_; }
    bool has_codes() const { return codes_->storage() != Storage::kHalf; }
    const RowCodes & codes() const { return *codes_; }
    uint32_t count() const { return keys_.count(); }
    uint32_t n_alive() const { return keys_.n_alive(); }
    bool is_alive(uint32_t row) const { return keys_.at(row) != kNoKey; }
    uint64_t key(uint32_t row) const { return keys_.at(row); }
    const RowKeys & keys() const { return keys_; }
    const uint16_t * at(uint32_t row) const { return reinterpret_cast<const uint16_t *>(exact_.at(row)); }
    const uint8_t * code(uint32_t row) const { return code_blocks_.at(row); }
    std::optional<uint32_t> find(uint64_t key) const { return keys_.find(key); }
    size_t size_bytes() const { return exact_.size_bytes() + code_blocks_.size_bytes() + keys_.size_bytes(); }

    const RowBlocks & exact_blocks() const { return exact_; }
    const RowBlocks & code_blocks() const { return code_blocks_; }

    // A vector of length 1 in whole lanes; a row of the same key is removed. Throws StatusError out_of_memory or
    // index_write_failed.
    void add(uint64_t key, const float * unit);
    // The same for a row of another index of the same shape, removed ones included.
    void add_from(const Rows & other, uint32_t row);
    bool remove(uint64_t key) { return keys_.remove(key); }

  private:
    uint32_t next_row() const;

    size_t stride_;
    // Shared, so that rows can be moved while queries refer to it.
    std::shared_ptr<const RowCodes> codes_;
    RowKeys keys_;
    RowBlocks exact_;
    RowBlocks code_blocks_;
};

}  // namespace svc
