// From what a caller asked for to what the engine runs: renders templates, tokenises, compiles grammars, on a thread of its own.
// What fails here never reaches the engine thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "../../common/status.h"
#include "../model/model.h"
#include "../queue/fair_queue.h"
#include "../queue/job.h"

namespace svc {

// Gives the generations what samples and writes their answers, where they lack it. Throws StatusError invalid_grammar or
// grammar_too_complex.
void build_samplers(const Model & model, Job & job);

class Preparation {
  public:
    using Job = std::shared_ptr<svc::Job>;

    // Jobs may have n_ctx tokens. `done` and `failed` are called on the thread, once for each job.
    Preparation(std::shared_ptr<const Model> model, uint32_t n_ctx, std::function<void(const Job &)> done,
                std::function<void(const Job &, const Status &)> failed);
    ~Preparation();

    // Throws StatusError closed.
    void push(Job job);
    // Joins the thread and lets go of the model. Jobs that wait are dropped. Idempotent.
    void close();

  private:
    void run();
    void prepare(svc::Job & job) const;

    std::shared_ptr<const Model> model_;
    uint32_t n_ctx_;
    std::function<void(const Job &)> done_;
    std::function<void(const Job &, const Status &)> failed_;
    std::mutex mutex_;
    std::condition_variable changed_;
    FairQueue<Job> waiting_;  // over jobs: a tenant with thousands delays another's by one
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace svc
