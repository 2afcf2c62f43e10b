// How many cells of a KV cache its sequences fill. Sequences of a unified KV may hold the same cells, which are counted once.
//
// Cells here are numbers that stand for llama.cpp's: one for each token of a sequence, with the number of sequences that hold it.
#pragma once

#include <cstdint>
#include <vector>

#include "llama.h"

namespace svc {

class CellReferences {
  public:
    CellReferences(uint32_t n_cells, uint32_t n_sequences) : n_cells_(n_cells), held_(n_sequences) {}

    // The sequence takes `count` cells more.
    void take(llama_seq_id id, size_t count);
    // The sequence, which holds none, shares the first `count` cells of another.
    void share(llama_seq_id from, llama_seq_id to, size_t count);
    // The sequence gives back all its cells but the first `n_keep`.
    void drop(llama_seq_id id, size_t n_keep);

    uint32_t n_cells() const { return n_cells_; }
    uint32_t n_used() const { return n_used_; }
    uint32_t n_free() const { return n_cells_ - n_used_; }
    // Cells that at least one of these sequences holds.
    uint32_t n_held(const std::vector<llama_seq_id> & ids) const;

  private:
    std::vector<uint32_t> & of(llama_seq_id id) { return held_[static_cast<size_t>(id)]; }

    uint32_t n_cells_;
    uint32_t n_used_ = 0;
    std::vector<std::vector<uint32_t>> held_;  // by sequence, in the order of its tokens
    std::vector<uint32_t> n_holders_;          // by cell
    std::vector<uint32_t> spare_;
};

}  // namespace svc
