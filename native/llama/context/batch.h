// A llama_batch that owns its memory and knows its capacity.
#pragma once

#include "llama.h"

namespace svc {

class Batch {
  public:
    explicit Batch(int32_t n_most) : batch_(llama_batch_init(n_most, 0, 1)), n_most_(n_most) {}
    ~Batch() { llama_batch_free(batch_); }
    Batch(const Batch &) = delete;
    Batch & operator=(const Batch &) = delete;

    void clear() { batch_.n_tokens = 0; }
    int32_t size() const { return batch_.n_tokens; }
    int32_t capacity() const { return n_most_ - batch_.n_tokens; }

    // Returns the index of the token in the batch, which is also its row of logits.
    int32_t add(llama_token token, llama_pos pos, llama_seq_id sequence, bool wants_logits) {
        const int32_t i = batch_.n_tokens++;
        batch_.token[i] = token;
        batch_.pos[i] = pos;
        batch_.n_seq_id[i] = 1;
        batch_.seq_id[i][0] = sequence;
        batch_.logits[i] = wants_logits;
        return i;
    }

    const llama_batch & raw() const { return batch_; }

  private:
    llama_batch batch_;
    int32_t n_most_;
};

}  // namespace svc
