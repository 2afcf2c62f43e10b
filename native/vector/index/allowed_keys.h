// Which keys a search may find: all, those of a list, or those whose bit is set.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "../rows/rows.h"

namespace svc {

struct AllKeys {};
struct KeyBits {
    // Key n is bit n % 32 of word n / 32.
    std::vector<uint32_t> words;
};
using AllowedKeys = std::variant<AllKeys, std::vector<uint64_t>, KeyBits>;

// The same for the rows of an index as it is at the moment; it is used under the same lock.
class AllowedRows {
  public:
    AllowedRows(const AllowedKeys & allowed, const Rows & rows);

    // Rows that a search may find.
    uint32_t count() const { return count_; }
    bool has(uint32_t row) const { return is_all_ ? rows_.is_alive(row) : bits_[row / 64] >> row % 64 & 1; }
    // Calls `each` with every one from `first` on.
    template <typename Each> void from(uint32_t first, Each && each) const {
        if (is_all_) {
            for (uint32_t row = first; row < rows_.count(); row++)
                if (rows_.is_alive(row)) each(row);
            return;
        }
        for (uint32_t word = first / 64; word < bits_.size(); word++) {
            auto left = word == first / 64 ? bits_[word] >> first % 64 << first % 64 : bits_[word];
            for (; left != 0; left &= left - 1) each(word * 64 + static_cast<uint32_t>(__builtin_ctzll(left)));
        }
    }

  private:
    void allow(uint32_t row);

    const Rows & rows_;
    const bool is_all_;
    uint32_t count_ = 0;
    // Of rows that are there alone.
    std::vector<uint64_t> bits_;
};

}  // namespace svc
