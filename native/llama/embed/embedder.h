// Embedding and rerank contexts: texts of all callers are packed into batches on one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "../../common/status.h"
#include "../../scheduling/fair_queue.h"
#include "../context/batch.h"
#include "../context/context.h"
#include "../context/engine_limits.h"
#include "../model/model.h"
#include "../queue/admission_control.h"
#include "../queue/service_rate.h"

namespace svc {

// One caller's texts. Filled by the embedder thread; `done` is called there, once.
struct EmbedRequest {
    std::string tenant;
    // Nobody waits for it: others' work goes first.
    bool is_background = false;
    // A text that is longer than the context is cut at its end; a document that is ranked is not.
    bool truncates = false;
    Clock::time_point deadline = Clock::time_point::max();
    std::vector<std::variant<std::string, std::vector<llama_token>>> inputs;
    // Rerank: inputs are documents, scored against this query.
    bool rank = false;
    std::string query;

    std::vector<std::vector<float>> vectors;  // rank: one score each
    std::vector<uint32_t> n_tokens;
    std::vector<size_t> truncated;  // the inputs that were cut, in their order
    Status status;
    std::function<void()> done;
    size_t n_missing = 0;
    size_t n_queued_tokens = 0;  // of texts that are not tokenised yet, as their bytes say
    std::atomic<bool> cancelled{false};
};

// One of a request's texts. It waits untokenised: a tokenizer takes seconds for what one request may hold, and other tenants'
// texts would wait for all of it.
struct EmbedText {
    std::shared_ptr<EmbedRequest> request;
    size_t index;
    std::vector<llama_token> tokens;  // empty before it is first considered for a batch
};

// Context parameters: what is automatic is decided here.
llama_context_params plan_embedding(const Model & model, const EngineOptions & options);

class Embedder {
  public:
    Embedder(std::shared_ptr<Model> model, EngineOptions options);
    ~Embedder();

    // Throws StatusError queue_full, closed or unsupported (rank without a rerank model).
    void submit(std::shared_ptr<EmbedRequest> request, int64_t timeout_ms);
    // Nobody waits for it any more: what is left of it is not computed.
    void cancel(EmbedRequest & request);
    void close();
    const EngineLimits & limits() const { return limits_; }
    const AdmissionControl & queue() const { return queue_; }
    // It was measured in the last batch; 0 before the first.
    double ms_per_token() const { return ms_per_token_; }
    // Nothing is computed any more.
    bool device_failed() const { return device_failed_; }

  private:
    void run();
    bool take(std::vector<std::shared_ptr<EmbedRequest>> & taken);
    void keep(const std::shared_ptr<EmbedRequest> & request);
    void prepare(const std::shared_ptr<EmbedRequest> & request);
    // Throws StatusError context_length_exceeded.
    void check_length(size_t index, const char * bound, size_t n_tokens) const;
    size_t least_tokens_of(const EmbedRequest & request, size_t index) const;
    std::vector<llama_token> tokens_of(const EmbedRequest & request, size_t index) const;
    std::vector<llama_token> rank_tokens(const std::string & query, const std::string & document) const;
    size_t n_pack() const;
    void shorten(EmbedRequest & request) const;
    void tokenize(EmbedText & text);
    void truncate(EmbedText & text) const;
    bool tokenize_front();
    void pack();
    void run_batch();
    void drop_over();
    void collect(const EmbedText & text, llama_seq_id sequence);
    void complete(const std::shared_ptr<EmbedRequest> & request, const Status & status);

    std::shared_ptr<Model> model_;
    ContextPtr context_;
    EngineLimits limits_;
    enum llama_pooling_type pooling_;
    int32_t norm_;
    AdmissionControl queue_;
    std::unique_ptr<Batch> batch_;
    std::unique_ptr<CoreArbiter::Member> compute_;
    std::atomic<double> ms_per_token_{0};
    std::atomic<bool> device_failed_{false};
    // Embedder thread only.
    std::vector<std::shared_ptr<EmbedRequest>> requests_;  // those whose texts wait or are in the running batch
    FairQueue<EmbedText> waiting_;                         // over tokens
    std::vector<EmbedText> packed_;                        // in the running batch
    ServiceRate service_rate_;

    // Held while threads are joined: close() may come from several at once.
    std::mutex close_mutex_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<std::shared_ptr<EmbedRequest>> inbox_;
    bool is_notified_ = false;
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace svc
