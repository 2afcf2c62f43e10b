// The key of each row, and the row of each key: an open-addressed table of row numbers beside the keys. A removed row has kNoKey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace svc {

// Keys are JS safe integers; this is none of them.
constexpr uint64_t kNoKey = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kMostKey = (uint64_t{1} << 53) - 1;
// Row numbers above stand for places of the table that have none.
constexpr uint32_t kMostRows = std::numeric_limits<uint32_t>::max() - 1;

class RowKeys {
  public:
    RowKeys() = default;
    // By row. Throws StatusError index_invalid when a key is there twice.
    explicit RowKeys(std::vector<uint64_t> keys);

    uint32_t count() const { return static_cast<uint32_t>(keys_.size()); }
    uint32_t n_alive() const { return n_alive_; }
    uint64_t at(uint32_t row) const { return keys_[row]; }
    const std::vector<uint64_t> & all() const { return keys_; }
    std::optional<uint32_t> find(uint64_t key) const;
    size_t size_bytes() const;

    // Of the next row, which may be kNoKey; a row that has the key is removed.
    void push(uint64_t key);
    bool remove(uint64_t key);

  private:
    static constexpr uint32_t kFree = std::numeric_limits<uint32_t>::max();
    static constexpr uint32_t kGone = kFree - 1;

    // The place of a key that is there, or kFree.
    size_t place_of(uint64_t key) const;
    void insert(uint64_t key, uint32_t row);
    // Space for one key more.
    void make_space();
    void rebuild(size_t n_places);

    std::vector<uint64_t> keys_;
    // Rows at the places that their keys hash to, or behind; a power of two of them.
    std::vector<uint32_t> places_;
    uint32_t n_alive_ = 0;
    // Places that are not free: those of rows, and of rows that are gone.
    size_t n_taken_ = 0;
};

}  // namespace svc
