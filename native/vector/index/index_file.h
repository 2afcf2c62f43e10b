// An index on disk: a header, the keys, the rows, their codes, the links. All of it is checked before any of it is used.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vector_index.h"

namespace svc {

// The rows of an index as they were: later ones are added behind them, and none of these is written again.
class SavedRows {
  public:
    explicit SavedRows(std::shared_ptr<const IndexState> state);

    uint32_t count() const { return static_cast<uint32_t>(keys_.size()); }
    const std::vector<uint64_t> & keys() const { return keys_; }
    // Both call `each` with stretches that lie one behind the other.
    template <typename Each> void exact(Each && each) const { stretches(exact_, state_->rows.exact_blocks().row_bytes(), each); }
    template <typename Each> void codes(Each && each) const { stretches(codes_, state_->rows.code_blocks().row_bytes(), each); }
    const Graph & graph() const { return *state_->graph; }

  private:
    using Starts = std::vector<const uint8_t *>;
    template <typename Each> void stretches(const Starts & starts, size_t row_bytes, Each & each) const {
        constexpr auto kAtOnce = RowBlocks::kBlockRows;
        if (row_bytes == 0) return;
        for (uint32_t row = 0; row < count(); row += kAtOnce)
            each(starts[row / kAtOnce], std::min(kAtOnce, count() - row) * row_bytes);
    }

    // Keeps the rows while the index is closed.
    std::shared_ptr<const IndexState> state_;
    std::vector<uint64_t> keys_;
    Starts exact_;
    Starts codes_;
};

// Throws StatusError index_write_failed. No row is linked meanwhile.
void write_index(const std::string & path, const IndexOptions & options, const SavedRows & saved);

// Takes rows and label of the options, and puts the file's connectivity there. Throws StatusError index_not_found, or
// index_invalid for a file that is of another kind, version, label, storage or number of dimensions, or damaged.
IndexState load_index(const std::string & path, IndexOptions & options);
// The same without copying: the file stays mapped.
IndexState view_index(const std::string & path, IndexOptions & options);

}  // namespace svc
