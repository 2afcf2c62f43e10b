// The best of many rows, in a heap whose root is the worst of them. Of equal scores the earlier row is better.
#pragma once

#include <algorithm>
#include <vector>

#include "row_hit.h"

namespace svc {

class Nearest {
  public:
    explicit Nearest(uint32_t k) : k_(k) {}

    void offer(RowHit hit) {
        if (hits_.size() == k_) {
            if (!is_better(hit, hits_.front())) return;
            std::pop_heap(hits_.begin(), hits_.end(), is_better);
            hits_.pop_back();
        }
        hits_.push_back(hit);
        std::push_heap(hits_.begin(), hits_.end(), is_better);
    }

    // Best first; leaves nothing.
    std::vector<RowHit> take() {
        std::sort_heap(hits_.begin(), hits_.end(), is_better);
        return std::move(hits_);
    }

  private:
    static bool is_better(const RowHit & a, const RowHit & b) {
        return a.score > b.score || (a.score == b.score && a.row < b.row);
    }

    uint32_t k_;
    std::vector<RowHit> hits_;
};

// A product as a cosine. Rows from a file may hold anything, and orders break on what is not a number.
inline float cosine_of(float product) { return product > -1 ? std::min(product, 1.0f) : -1; }

}  // namespace svc
