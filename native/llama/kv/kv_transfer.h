// The cells of one sequence, copied bit for bit: out of the cache, into it, or from one sequence's buffer to another's.
//
// llama.h copies a sequence whole, which stalls every stream for as long as it takes. So this records where a state lies instead
// of copying it (llama.cpp's memory writes and reads states through an interface of its own, src/llama-io.h), and copies in
// slices.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../compute/row_pool.h"
#include "llama.h"

struct ggml_tensor;

namespace svc {

// What a sequence held, in host memory.
struct KvState {
    std::vector<uint8_t> meta;  // llama.cpp's description: positions, types and sizes
    // Uninitialised at first, and huge pages are not asked for: those are memory that nobody has touched, which a virtual
    // machine first has to be given (4 MB copied in 7.2 ms instead of 1.7).
    std::unique_ptr<uint8_t[]> data;
    size_t n_data = 0;

    size_t bytes() const { return meta.size() + n_data; }
};

class KvTransfer {
  public:
    using Clock = std::chrono::steady_clock;

    // The sequence's cells must stay as they are until the transfer is done.
    static std::unique_ptr<KvTransfer> save(llama_context * context, llama_seq_id from);
    // Takes cells at once; they are whole when the transfer is done. Throws when there are too few, or when the state is of
    // another kind of cache; the sequence is then empty.
    static std::unique_ptr<KvTransfer> restore(llama_context * context, llama_seq_id to, std::shared_ptr<const KvState> state);
    static std::unique_ptr<KvTransfer> copy(llama_context * context, llama_seq_id from, llama_seq_id to);
    // Copies the whole buffer of one sequence over another's, at once. llama.cpp would do it within the next decode; until then
    // either buffer could be given to another generation, whose restored state is written there without waiting.
    static void copy_whole(llama_context * context, llama_seq_id from, llama_seq_id to);

    // Copies until it is done or `until` has passed, with the pool's threads where the cache lies in host memory. True when it is
    // done.
    bool advance(Clock::time_point until, RowPool & pool);

    size_t n_bytes() const { return n_bytes_; }
    size_t n_done() const { return n_done_; }
    // Whether the cache lies in host memory, where several threads may copy.
    bool is_host() const;
    // It is there after a save.
    std::shared_ptr<const KvState> take() { return std::move(saved_); }

  private:
    struct Segment {
        ggml_tensor * tensor;
        size_t offset;
        size_t size;
    };
    // Walks over segments in pieces.
    struct Cursor {
        std::vector<Segment> segments;
        size_t at = 0;
        size_t done = 0;  // of the segment

        size_t left() const { return segments[at].size - done; }
        // Where the next `size` bytes are, and on.
        std::pair<const Segment *, size_t> take(size_t size);
    };
    // A part that is copied at once: within one segment on either side.
    struct Piece {
        const Segment * from;  // null: from the saved state
        size_t from_offset;
        const Segment * to;  // null: into the saved state
        size_t to_offset;
        size_t at;  // in the saved state
        size_t size;
    };
    class Recorder;
    class Player;

    explicit KvTransfer(llama_context * context) : context_(context) {}
    void play(llama_seq_id to, const std::vector<uint8_t> & meta);
    Piece take_piece();
    void copy(const Piece & piece) const;

    llama_context * context_;
    Cursor from_;
    Cursor to_;
    std::shared_ptr<const KvState> restored_;
    std::shared_ptr<KvState> saved_;
    size_t n_bytes_ = 0;
    size_t n_done_ = 0;
};

}  // namespace svc
