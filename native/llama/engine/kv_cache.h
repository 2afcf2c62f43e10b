// What a generation starts from instead of evaluating all its tokens, and what becomes of states whose sequences are given up:
// prefixes of live sequences, prefixes that another prompt is about to compute, states saved in memory and on disk.
//
// Who gets a sequence is the scheduler's to say (scheduler.h). Engine thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "../kv/kv_offload.h"
#include "../kv/sequences.h"
#include "../planning/step_estimates.h"
#include "../queue/job.h"
#include "../queue/running_prompts.h"
#include "engine_stats.h"

namespace svc {

class KvCache {
  public:
    struct Options {
        Sequences::Options sequences;
        KvOffload::Options saved;  // of no memory: nothing is saved
    };
    // What a generation may start from.
    struct Prefix {
        Sequence * source = nullptr;
        size_t n_common = 0;
        KvOffload::Match saved;
        RunningPrompts::Owner owner;
    };

    // `wake` is called from another thread when poll() has something to do.
    KvCache(llama_context * context, const Options & options, const StepEstimates & estimates, std::function<void()> wake);

    // The prefix that saves most: one that lies in the cache, one that was saved, or one that a prompt is about to compute.
    Prefix find_prefix(const Generation & generation);
    // False: the prompt has to wait until others end. All that run keep some cells to grow into.
    bool has_capacity(const Generation & generation, const Prefix & prefix, uint32_t n_running) const;
    // Has the saved state read from the disk, where it is there alone. False: nothing needs to be read.
    bool fetch(Generation & generation, const Prefix & prefix);
    // Whether what the generation will start from is still on its way from the disk.
    bool is_fetching(Generation & generation);
    // Gives the generation a sequence that starts with the prefix, and a state to go on in. False: none can be had now.
    bool place(Generation & generation, const Prefix & prefix);
    // A generation that waits for its prefix starts once that is computed, or looks again when nobody computes it any more.
    void resume_waiting(Generation & generation);
    // The generation gives its sequence back, whose tokens stay as a cached prefix.
    void release(Generation & generation);
    // The generation's tokens went through a step: so many of the batch's, which end before position n_pos.
    void append(Generation & generation, const llama_token * tokens, size_t count, llama_pos n_pos);

    // Puts the sequence's state among the saved ones, over some steps; `then` is called when it is there, or is given up. False:
    // it cannot be.
    bool save(Sequence & sequence, std::function<void()> then);
    // Between steps: takes in what the disk has done, and has the next sequence saved that is going to be evicted.
    void poll();
    void save_next();
    // Copies what is under way until then.
    void copy(Clock::time_point until) { sequences_.copier().advance(until); }
    bool is_copying() { return sequences_.copier().has_work(); }
    // Why nothing is written to the disk any longer; said once, empty otherwise.
    std::string take_io_error() { return saved_ ? saved_->take_io_error() : std::string(); }

    bool saves() const { return saved_ != nullptr; }
    Sequences & sequences() { return sequences_; }
    const Sequences & sequences() const { return sequences_; }
    void publish(EngineStats & stats);

  private:
    bool is_faster_restored(const KvOffload::Match & saved, size_t n_more);
    bool save_before_evict(Sequence * source, size_t n_common);
    bool restore(Generation & generation, const KvOffload::Match & saved);

    Sequences sequences_;
    std::unique_ptr<KvOffload> saved_;  // null: nothing is saved
    RunningPrompts running_prompts_;
    const StepEstimates & estimates_;
    uint32_t n_not_restored_ = 0;  // states that were evaluated again, as copying seemed to take longer
    uint64_t n_hits_ = 0;
    uint64_t n_restored_tokens_ = 0;
};

}  // namespace svc
