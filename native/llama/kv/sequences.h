// The KV cache as the scheduler sees it: sequences, the tokens that each holds, and how many cells all of them fill.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "../tuning/tuning.h"
#include "cell_references.h"
#include "kv_copier.h"
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
    bool filling = false;    // its cells are being copied; until they are there nothing may read them
    bool evictable = false;  // its state was saved, or is not worth it: it may be evicted at any time
    uint32_t n_readers = 0;  // copies of its cells that are under way
    uint32_t epoch = 0;      // counts how often cells were taken from it
    uint64_t last_used = 0;
};

// What the memory can do with a prefix that another sequence holds.
enum class Sharing {
    None,    // recurrent state: nothing
    Cells,   // unified buffer: sequences hold the same cells, which are therefore counted by reference
    Copies,  // a buffer for each sequence: it is copied, in slices where the cache lies in host memory
};

class Sequences {
  public:
    struct Options {
        uint32_t n_sequences;
        uint32_t n_cells;
        Sharing sharing;
        // Attention window of some layers, 0 for none: of a state that is longer, others may have taken earlier cells
        // (llama.cpp's find_slot), and a copy has none of them.
        uint32_t n_window;
        // Sequences that are evicted are saved first.
        bool saves;
        uint32_t n_copy_threads;
    };

    Sequences(llama_context * context, Options options);

    // Shorter prefixes are evaluated anew: that costs less than to copy them.
    size_t n_worth_sharing() const { return sharing_ == Sharing::Copies ? kTuning.worth_copying_tokens : 1; }

    // The sequence with the longest common prefix, at most `most` tokens; null when none shares any.
    Sequence * find_prefix(const std::string & key, const std::vector<llama_token> & tokens, size_t most, size_t & n_common);

    // The sequence that acquire() would take; null when every sequence is busy.
    Sequence * choose(Sequence * source, size_t n_common);
    // Tokens that would be lost if `target` gave way to a generation that keeps `n_common` tokens of `source`.
    static size_t n_lost(const Sequence & target, const Sequence * source, size_t n_common);

    // A sequence for a new generation that starts with the first `n_common` tokens of `source` (null: empty).
    // Takes an idle source over when little of it would be lost. Null when every sequence is busy.
    // `shareable`: other generations may copy its tokens, now and after release.
    // The sequence may be `filling` for some steps.
    Sequence * acquire(const std::string & key, Sequence * source, size_t n_common, bool shareable);

    // Copies the state out of a sequence that nobody writes to, over some steps; `saved` is called with it, or with null where
    // its cells were taken before or the copy broke off. False: it cannot be, now or at all.
    bool save(Sequence & sequence, size_t most_bytes, std::function<void(std::shared_ptr<const KvState>)> saved);
    // Bytes of its state, by what was seen of others.
    double bytes_of(const Sequence & sequence) const { return bytes_per_token_ * static_cast<double>(sequence.tokens.size()); }
    bool is_saving() const { return n_saving_ > 0; }
    // The idle sequence that should be saved next because it will be evicted next, or null.
    Sequence * next_to_save();
    // Fills an acquired, empty sequence with a saved state and then keeps the first `n_keep` tokens. False when it does not fit.
    bool restore(Sequence & target, const std::vector<llama_token> & tokens, std::shared_ptr<const KvState> state, size_t n_keep);

    KvCopier & copier() { return copier_; }

    // The generation is over; the tokens of a shareable sequence stay as a cached prefix.
    void release(Sequence & sequence);

    // Records tokens that were decoded into the sequence.
    void append(Sequence & sequence, const llama_token * tokens, size_t count, llama_pos n_pos);

    // Drops what was decoded behind the recorded tokens: drafts that were not right.
    void drop_unrecorded(const Sequence & sequence);
    // Takes back what went through of a batch that failed, which held n_rows of the sequence. False when the memory cannot
    // (recurrent state, or an attention window that has moved on): the sequence holds nothing then.
    bool roll_back(Sequence & sequence, size_t n_rows);
    // Forgets every sequence, also those that are in use.
    void reset();
    // Whether rows for the sequences `from` to `to` - 1, which nobody runs, can be had and cost less than a pass of their own for
    // those behind them (see add_padding in planning/step_planner.cpp).
    bool can_fill(llama_seq_id from, llama_seq_id to) const;
    // Where such a row goes. After the decode, clear_padding() takes it back.
    llama_pos padding_pos(llama_seq_id id) const;
    void clear_padding(llama_seq_id id);

    // Forgets an idle sequence, see idle_victim(). False when there is none.
    bool evict();

    bool is_kv_unified() const { return sharing_ == Sharing::Cells; }
    uint32_t n_cells() const { return cells_.n_cells(); }
    uint32_t n_used() const { return cells_.n_used(); }
    // Forgets the oldest cached prefixes where more of them are kept than is good for those who run.
    void trim();
    // Evicts idle sequences until so many cells are free. False when that cannot be.
    bool free_cells(size_t count);

    // Whether a sequence can take n_new more cells once every idle one is evicted.
    bool has_capacity(uint32_t n_new) const;
    uint32_t n_idle() const;
    size_t n_idle_tokens() const;

  private:
    bool is_complete(size_t n_tokens) const { return n_window_ == 0 || n_tokens <= n_window_; }
    bool can_continue(const Sequence & sequence, size_t n_tokens) const;
    bool can_take_over(const Sequence & sequence, size_t n_common) const;
    size_t n_idle_limit() const;
    void share(Sequence & source, Sequence & target, size_t n_common);
    bool share_by_slices(Sequence & source, Sequence & target, size_t n_common);
    std::function<bool()> cells_held_by(const Sequence & sequence) const;
    void fill(Sequence & target, std::unique_ptr<KvTransfer> transfer, size_t n_keep, Sequence * source);
    void end_filling(Sequence & target, size_t n_keep, bool whole);
    void index(Sequence & sequence);
    void clear(Sequence & sequence);
    bool cut(Sequence & sequence, size_t n_keep);
    Sequence * idle_victim(const Sequence * except, bool may_be_empty);
    enum class Gap { None, Filled, Open };
    Gap gap_of(const Sequence & sequence) const;
    // The idle sequence of the lowest rank is evicted first: whether its gap is open, whether its state would be lost, its gap,
    // when it was last used.
    using Rank = std::tuple<bool, bool, Gap, uint64_t>;
    Rank rank_of(const Sequence & sequence) const;

    llama_context * context_;
    llama_memory_t memory_;
    Sharing sharing_;
    uint32_t n_window_;
    bool saves_;
    uint32_t n_saving_ = 0;
    double bytes_per_token_ = 0;
    KvCopier copier_;
    uint64_t clock_ = 0;
    std::vector<Sequence> sequences_;
    PrefixTree tree_;  // of the shareable sequences, by id
    CellReferences cells_;
};

}  // namespace svc
