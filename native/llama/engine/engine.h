// One context, one engine thread: continuous batching over many sequences.
//
// submit() -> Preparation (template, tokens, grammar) -> JobInbox -> StepLoop: Scheduler (who runs) with KvCache (what sequences
// start from), choose_turn() and plan_step() (what the batch holds), Decoder (evaluates it), RowSampler -> AnswerWriter (text,
// records) -> StepChannel -> JS. The engine thread alone touches the llama_context and the sequences.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "../../common/step_channel.h"
#include "../context/context.h"
#include "../context/engine_limits.h"
#include "../decoding/decoder.h"
#include "../model/model.h"
#include "../planning/step_estimates.h"
#include "../queue/job_inbox.h"
#include "../sampling/sampling_defaults.h"
#include "answer_writer.h"
#include "engine_stats.h"
#include "kv_cache.h"
#include "preparation.h"
#include "speculation.h"
#include "step_loop.h"

namespace svc {

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
    void cancel(uint32_t id) { inbox_.cancel(id); }
    void set_paused(uint32_t id, bool paused) { inbox_.set_paused(id, paused); }
    // Ends every job with `closed`, joins the threads and frees the context. Idempotent; may take one step.
    void close();

    const EngineLimits & limits() const { return limits_; }
    const EngineStats & stats() const { return stats_; }
    const AdmissionControl & queue() const { return inbox_.admission(); }
    const SamplingOptions & default_sampling() const { return default_sampling_; }

  private:
    void plan_memory(const EngineOptions & options, std::shared_ptr<Model> draft_model);
    void check(const JobOptions & options) const;
    void refuse(const std::shared_ptr<Job> & job, const Status & status);
    void fail_left();
    void free_memory();

    std::shared_ptr<Model> model_;
    EngineLimits limits_;
    SamplingOptions default_sampling_;
    std::set<std::string> adapters_;  // by name
    EngineStats stats_;
    JobInbox inbox_;
    StepChannel * channel_ = nullptr;
    std::mutex close_mutex_;  // held while threads are joined: close() may come from several at once

    // Engine thread only, once it runs.
    ContextPtr context_;
    StepEstimates estimates_;
    std::unique_ptr<KvCache> kv_;
    std::unique_ptr<Decoder> decoder_;
    std::unique_ptr<Speculation> speculation_;  // null: none
    std::unique_ptr<AnswerWriter> writer_;
    std::unique_ptr<StepLoop> loop_;
    std::unique_ptr<Preparation> preparation_;
    std::thread thread_;
};

}  // namespace svc
