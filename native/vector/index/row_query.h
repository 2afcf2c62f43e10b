// A vector that rows are compared with: first by their codes, where they have such, and the best of them as they are.
#pragma once

#include <algorithm>
#include <optional>

#include "../kernels/kernels.h"
#include "../rows/rows.h"
#include "nearest.h"

namespace svc {

class RowQuery {
  public:
    // `unit`: of length 1, in whole lanes; it and the rows are read as long as the query is used.
    RowQuery(const Rows & rows, const float * unit) : rows_(rows), unit_(unit) {
        if (rows.has_codes()) coded_.emplace(rows.codes(), unit);
    }

    // The cosine, or about that where the rows have codes.
    float quick(uint32_t row) const { return coded_ ? cosine_of(coded_->estimate(rows_.code(row))) : exact(row); }
    float exact(uint32_t row) const { return cosine_of(kernels().product(unit_, rows_.at(row), rows_.stride())); }
    // The first bytes of what quick() reads; the processor guesses the rest.
    void prefetch(uint32_t row) const {
        const auto * at = coded_ ? rows_.code(row) : reinterpret_cast<const uint8_t *>(rows_.at(row));
        const size_t size = coded_ ? rows_.code_blocks().row_bytes() : rows_.exact_blocks().row_bytes();
        for (size_t i = 0; i < std::min(size, kPrefetched); i += kLineBytes) __builtin_prefetch(at + i);
    }

  private:
    static constexpr size_t kLineBytes = 64;
    static constexpr size_t kPrefetched = 6 * kLineBytes;

    const Rows & rows_;
    const float * unit_;
    std::optional<CodedQuery> coded_;
};

}  // namespace svc
