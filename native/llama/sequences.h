// The KV cache as the scheduler sees it: sequences, the tokens that each holds, and how many cells all of them fill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llama.h"
#include "prefix_tree.h"

namespace svc {

struct Sequence {
    llama_seq_id id = 0;
    // Owner of the tokens: tenant and adapters. Prefixes are shared between equal keys alone.
    std::string key;
    std::vector<llama_token> tokens;
    llama_pos n_pos = 0;     // next position; differs from tokens.size() after images with M-RoPE
    bool busy = false;       // a generation writes to it
    bool shareable = false;  // its tokens may serve others as a prefix
    uint64_t last_used = 0;
};

// What the memory can do with a prefix that another sequence holds.
enum class Sharing {
    None,    // recurrent state: nothing
    Cells,   // unified buffer: sequences hold the same cells, which are therefore counted by reference
    Copies,  // a buffer for each sequence: llama.cpp copies it, whole, before the next decode
};

class Sequences {
  public:
    Sequences(llama_context * context, uint32_t n_sequences, uint32_t n_cells, Sharing sharing);

    // Shorter prefixes are evaluated anew: that costs less than to copy them.
    size_t n_worth_sharing() const { return sharing_ == Sharing::Copies ? 64 : 1; }

    // The sequence with the longest common prefix, at most `most` tokens; null when none shares any.
    Sequence * find_prefix(const std::string & key, const std::vector<llama_token> & tokens, size_t most, size_t & n_common);

    // A sequence for a new generation that starts with the first `n_common` tokens of `source` (null: empty).
    // Takes an idle source over when little of it would be lost. Null when every sequence is busy.
    // `shareable`: other generations may copy its tokens, now and after release.
    Sequence * acquire(const std::string & key, Sequence * source, size_t n_common, bool shareable);

    // The generation is over; the tokens of a shareable sequence stay as a cached prefix.
    void release(Sequence & sequence);

    // Records tokens that were decoded into the sequence.
    void append(Sequence & sequence, const llama_token * tokens, size_t count, llama_pos n_pos);

    // Where a row that fills a gap between running sequences goes (see "Gaps" in engine_schedule.cpp); -1 when it cannot be taken
    // back, or does not fit. After the decode, clear_filler() takes it back.
    llama_pos filler_pos(llama_seq_id id) const;
    void clear_filler(llama_seq_id id);

    // Forgets the least recently used idle sequence. False when there is none.
    bool evict();

    uint32_t n_cells() const { return n_cells_; }
    uint32_t n_used() const { return n_used_; }
    // Forgets the oldest cached prefixes where more of them are kept than is good for those who run.
    void trim();

    // Whether a sequence can take n_new more cells once every idle one is evicted.
    bool has_room(uint32_t n_new) const;
    uint32_t n_idle() const;

  private:
    void share(Sequence & source, Sequence & target, size_t n_common);
    void take_cells(Sequence & sequence, size_t count);
    void index(Sequence & sequence);
    void clear(Sequence & sequence);
    bool cut(Sequence & sequence, size_t n_keep);
    void drop_cells(Sequence & sequence, size_t from);
    Sequence * idle_victim(const Sequence * except);
    bool is_beside_busy(const Sequence & sequence) const;

    llama_memory_t memory_;
    uint32_t n_cells_;
    Sharing sharing_;
    uint32_t n_used_ = 0;
    uint64_t clock_ = 0;
    std::vector<Sequence> sequences_;
    PrefixTree tree_;  // of the shareable sequences, by id
    // One virtual cell for each token of a sequence, with the number of sequences that hold it.
    std::vector<std::vector<uint32_t>> cells_;
    std::vector<uint32_t> references_;
    std::vector<uint32_t> free_cells_;
};

}  // namespace svc
