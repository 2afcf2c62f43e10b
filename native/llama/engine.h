// One context, one scheduler thread: continuous batching over many sequences.
//
// submit() -> preparing thread (template, tokens, grammar) -> engine thread (admit, decode, sample) -> AnswerWriter
// (text, records) -> StepChannel -> JS. The engine thread alone touches the llama_context and the sequences, and schedules
// the generations.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../common/step_channel.h"
#include "answer_writer.h"
#include "batch.h"
#include "compute_turns.h"
#include "context.h"
#include "drain_rate.h"
#include "job.h"
#include "kv_tier.h"
#include "memory_use.h"
#include "model.h"
#include "prefill_budget.h"
#include "preparing_jobs.h"
#include "queue_bound.h"
#include "row_pool.h"
#include "running_prompts.h"
#include "sampling_defaults.h"
#include "sequences.h"
#include "speculation.h"
#include "thread_choice.h"
#include "waiting_jobs.h"

namespace svc {

// What one row of logits came to.
struct SampledRow {
    llama_token token = LLAMA_TOKEN_NULL;
    std::optional<TokenLogprobs> logprobs;
};

// What automatic options came to.
struct EngineLimits {
    uint32_t n_ctx = 0;
    uint32_t n_ctx_per_job = 0;
    uint32_t n_parallel = 0;
    int32_t n_threads = 0;
    MemoryUse memory;   // KV cache and buffers
    MemoryUse weights;  // of the model, as they lie in memory
};

// What automatic limits of a queue come to.
QueueBound::Limits queue_limits(const EngineOptions & options);
// A place in the turns for a context that computes on the host's cores.
std::unique_ptr<ComputeTurns::Member> join_compute_turns(const EngineLimits & limits);

// Written by the engine thread, read by the JS thread.
struct EngineStats {
    std::atomic<uint32_t> n_active{0};
    std::atomic<uint32_t> n_cells_used{0};
    std::atomic<uint64_t> n_prompt_tokens{0};
    std::atomic<uint64_t> n_cached_tokens{0};
    std::atomic<uint64_t> n_completion_tokens{0};
    std::atomic<uint64_t> n_drafted_tokens{0};
    std::atomic<uint64_t> n_accepted_tokens{0};
    std::atomic<uint64_t> n_steps{0};
    std::atomic<uint64_t> n_tier_memory_bytes{0};
    std::atomic<uint64_t> n_tier_disk_bytes{0};
    std::atomic<uint64_t> n_tier_hits{0};
    std::atomic<uint64_t> n_restored_tokens{0};
    std::atomic<float> last_step_ms{0};
};

class Engine {
  public:
    // Creates the context. `draft_model`: drafts for `model`, or null.
    // Throws StatusError unsupported, out_of_memory or draft_model_incompatible.
    Engine(std::shared_ptr<Model> model, EngineOptions options, std::shared_ptr<Model> draft_model = nullptr);
    ~Engine();

    // Starts the threads; `channel` must outlive them.
    void start(StepChannel * channel);
    // Queues a job. Throws StatusError queue_full, closed or invalid_argument. O(1).
    uint32_t submit(JobOptions options);
    void cancel(uint32_t id);
    void set_paused(uint32_t id, bool paused);
    // Ends every job with `closed`, joins the threads and frees the context. Idempotent; may take one step.
    void close();

    const EngineLimits & limits() const { return limits_; }
    const EngineStats & stats() const { return stats_; }
    const QueueBound & queue() const { return queue_; }
    const SamplingOptions & default_sampling() const { return default_sampling_; }

  private:
    std::shared_ptr<Model> open_model();
    void free_memory();
    void prepare_loop();
    void prepare(const std::shared_ptr<Job> & job);
    void equip(Job & job) const;

    void run();
    bool take_inbox();
    void expire();
    void drop_cancelled();
    // Ends what the writer found to be over.
    void end_written();
    void nudge();
    void leave_queue(Job & job);
    // One decode. False when nothing could be done: all are paused, or wait for cells.
    bool step();
    void admit();
    bool admit(Generation & generation);
    uint32_t n_active() const;
    std::map<std::string_view, int> count_running() const;
    Generation * youngest_active() const;
    Generation * next_waiting();
    bool make_way(const Job & newcomer);
    bool set_sleeper_aside();
    Generation * find_sleeper() const;
    Generation * find_victim(const Job & newcomer) const;
    void begin(Job & job);

    // What a generation may start from instead of evaluating all its tokens.
    struct PrefixPlan {
        Sequence * source = nullptr;
        size_t n_common = 0;
        KvTier::Match saved;
        RunningPrompts::Leader leader;
    };
    PrefixPlan plan_prefix(const Generation & generation);
    bool pays(const KvTier::Match & saved, size_t n_more) const;
    bool place(Generation & generation, const PrefixPlan & plan);
    bool clear_the_way(Sequence * source, size_t n_common);
    bool restore(Generation & generation, const KvTier::Match & saved);
    bool save(Sequence & sequence, std::function<void()> then);
    bool is_fetching(Generation & generation);
    void move_states();
    void tell(const Status & notice);
    Clock::duration copy_slice() const;
    void copy_states(Clock::time_point until);
    void leave_early();
    void follow_leaders();
    bool has_room(const Generation & generation, const PrefixPlan & plan) const;

    const std::string * choose_lora();
    void plan_decode(const std::string & lora);
    std::vector<Generation *> prompts_in_order(const std::string & lora) const;
    void plan_prefill(const std::string & lora);
    uint32_t n_free_rows() const;
    uint32_t prefill_room(const PrefillBudget::Prompts & prompts);
    uint32_t n_planned_rows() const;
    void sort_by_sequence();
    uint32_t plan_prompt(Generation & generation, uint32_t n_most);
    void build_batch();
    void add_prompt(Generation & generation);
    void add_next(Generation & generation);
    void fill_gap(llama_seq_id from, llama_seq_id to);
    bool run_media(const std::string & lora);
    bool run_media(Generation & generation);
    void settle(Generation & generation, size_t n_accepted);
    void decode();
    void choose_threads();
    void relieve();
    void preempt(Generation & generation);
    void step_back(Generation & generation);
    void commit_step();
    void sample();
    SampledRow sample(Generation & generation, const float * logits) const;
    std::vector<SampledRow> sample(Generation & generation, const std::vector<const float *> & logits) const;
    void advance(Generation & generation, SampledRow row);

    void finish(Generation & generation, Finish reason);
    void finish_job(Job & job);
    void fail(Job & job, const Status & status);
    void release(Generation & generation);
    void forget(const Job & job);
    void apply_loras(const std::string & key);
    void publish();

    std::shared_ptr<Model> model_;
    EngineOptions options_;
    EngineLimits limits_;
    SamplingOptions default_sampling_;
    EngineStats stats_;
    QueueBound queue_;
    ContextPtr context_;
    StepChannel * channel_ = nullptr;

    // Engine thread only.
    std::unique_ptr<Sequences> sequences_;
    std::unique_ptr<KvTier> tier_;  // null: off
    Generation * leaving_ = nullptr;
    std::unique_ptr<Batch> batch_;
    std::unique_ptr<PrefillBudget> budget_;
    std::unique_ptr<ComputeTurns::Member> compute_;
    int32_t n_batch_threads_ = 0;
    std::unique_ptr<ThreadChoice> threads_;  // null: a device computes
    WaitingJobs waiting_;
    std::vector<std::shared_ptr<Job>> jobs_;  // those that began
    std::vector<Generation *> generations_;   // of jobs_, in the order in which they began
    std::vector<Generation *> in_step_;
    std::vector<llama_seq_id> fillers_;  // sequences that got a row to fill a gap
    uint32_t n_spare_rows_ = 0;
    RunningPrompts running_prompts_;
    std::string lora_in_use_;
    uint64_t n_turns_ = 0;    // that adapter sets were given
    bool ran_media_ = false;  // in the last step
    bool stalled_ = false;
    // Cells ran out; nobody is admitted until somebody gives some back.
    bool holding_ = false;
    std::unique_ptr<Speculation> speculation_;  // null: none
    std::unique_ptr<RowPool> rows_;
    std::unique_ptr<AnswerWriter> writer_;
    DrainRate drain_rate_;

    // Between threads.
    // Held while threads are joined: close() may come from several at once.
    std::mutex close_mutex_;
    std::mutex mutex_;
    std::condition_variable wake_engine_;
    std::condition_variable wake_preparing_;
    PreparingJobs to_prepare_;
    std::deque<std::shared_ptr<Job>> inbox_;
    std::unordered_map<uint32_t, std::shared_ptr<Job>> by_id_;
    std::vector<uint32_t> cancelled_;
    uint32_t next_id_ = 1;
    bool closing_ = false;
    bool nudged_ = false;

    std::thread preparing_;
    std::thread engine_;
};

}  // namespace svc
