// A set of tokens: a sorted list while it is small, else one bit for each token of the vocabulary.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "llama.h"

namespace svc {

class TokenSet {
  public:
    explicit TokenSet(int32_t n_vocab) : n_vocab_(n_vocab) {}

    void add(llama_token token) {
        n_added_++;
        if (is_list() && list_.size() >= static_cast<size_t>(n_vocab_) / 64) spread();
        if (is_list()) list_.push_back(token);
        else bits_[static_cast<size_t>(token) / 64] |= uint64_t{1} << (token % 64);
    }
    // Call once all are added.
    void finish() {
        std::sort(list_.begin(), list_.end());
        list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
        list_.shrink_to_fit();
    }

    size_t n_added() const { return n_added_; }
    bool is_list() const { return bits_.empty(); }
    const std::vector<llama_token> & list() const { return list_; }

    bool has(llama_token token) const {
        if (is_list()) return std::binary_search(list_.begin(), list_.end(), token);
        return (bits_[static_cast<size_t>(token) / 64] >> (token % 64)) & 1;
    }

    // The tokens are visited in ascending order.
    template <typename Visit> void for_each(Visit && visit) const {
        for (llama_token token : list_) visit(token);
        for (size_t word = 0; word < bits_.size(); word++) {
            for (uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1)
                visit(static_cast<llama_token>(word * 64) + __builtin_ctzll(bits));
        }
    }

    size_t size_bytes() const { return sizeof *this + list_.capacity() * sizeof(llama_token) + bits_.size() * sizeof(uint64_t); }

  private:
    void spread() {
        bits_.resize(static_cast<size_t>(n_vocab_) / 64 + 1);
        for (llama_token token : list_) bits_[static_cast<size_t>(token) / 64] |= uint64_t{1} << (token % 64);
        list_.clear();
    }

    int32_t n_vocab_;
    size_t n_added_ = 0;
    std::vector<llama_token> list_;
    std::vector<uint64_t> bits_;
};

}  // namespace svc
