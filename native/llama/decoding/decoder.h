// Evaluates a step: rows of sequences, or an image, in the context, with the adapters that they ask for and on as many threads as
// serve best. Engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "../../common/status.h"
#include "../../scheduling/compute_contention.h"
#include "../../scheduling/core_arbiter.h"
#include "../chat/media.h"
#include "../compute/thread_choice.h"
#include "../context/batch.h"
#include "../context/engine_limits.h"
#include "../kv/sequences.h"
#include "../model/model.h"
#include "../queue/job.h"

namespace svc {

struct ComputeUse {
    uint32_t n_threads = 0;
    ComputeContention::State contention;
};

class Decoder {
  public:
    // What became of an evaluation. After one that failed, llama.cpp keeps what went through before in its sequences.
    struct Result {
        enum class Kind { Done, NoCells, Failed };
        Kind kind = Kind::Done;
        Status why;  // it failed
        double ms = 0;
    };

    // `n_batch_threads`: for batches of many rows.
    Decoder(const Model & model, llama_context * context, const EngineLimits & limits, int32_t n_batch_threads);

    // The thread that decodes calls it: the compute threads belong to the one that leads them.
    void warm_up();
    // From now on rows are evaluated with the generation's adapters.
    void use_adapters(const Generation & of);

    // Builds the batch, sequence by sequence. The generation's n_planned, first_row and batch_index say what it holds of it.
    void clear() { batch_.clear(); }
    void add(Generation & generation);
    // A row that nobody asked for.
    void add_padding(llama_seq_id sequence, llama_pos position) { batch_.add(kPaddingToken, position, sequence, false); }
    Result evaluate();
    // Evaluates an image at the end of a sequence; `n_pos` is where the sequence then ends.
    Result evaluate_image(const MediaChunk & image, const Sequence & sequence, llama_pos & n_pos);
    // A step without prompts took this long.
    void observe_plain_step(double ms) { observe(ms, static_cast<uint32_t>(batch_.size())); }
    void observe_prompt_step(double ms) { observe(ms, 0); }

    const Batch & batch() const { return batch_; }
    uint32_t n_batch_rows() const { return static_cast<uint32_t>(batch_.size() + batch_.capacity()); }
    uint32_t n_physical_rows() const { return llama_n_ubatch(context_); }
    CoreArbiter::Member & compute() { return *compute_; }
    // What the next step computes on.
    ComputeUse compute_use() const;

  private:
    static constexpr llama_token kPaddingToken = 0;

    void add_prompt(Generation & generation);
    void add_next(Generation & generation);
    void choose_threads();
    void observe(double ms, uint32_t n_rows);

    const Model & model_;
    llama_context * context_;
    Batch batch_;
    std::unique_ptr<CoreArbiter::Member> compute_;
    int32_t n_threads_;
    int32_t n_batch_threads_;
    ComputeContention contention_;
    std::optional<ThreadChoice> choice_;  // nothing: a device computes
    std::string adapters_;                // in use
};

}  // namespace svc
