// From what a caller asked for to what the engine runs: renders templates, tokenises, compiles grammars, on threads of its own:
// one for short prompts, and one for long ones and media, which take up to seconds. What fails here never reaches the engine
// thread.
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

    // Jobs may have n_ctx tokens. `done` and `failed` are called on these threads, once for each job.
    Preparation(std::shared_ptr<const Model> model, uint32_t n_ctx, std::function<void(const Job &)> done,
                std::function<void(const Job &, const Status &)> failed);
    ~Preparation();

    // Throws StatusError closed.
    void push(Job job);
    // Joins the threads and lets go of the model. Jobs that wait are dropped. Idempotent.
    void close();

  private:
    struct Lane {
        std::condition_variable changed;
        FairQueue<Job> waiting;  // over jobs: a tenant with thousands delays another's by one
        std::thread thread;
    };
    void run(Lane & lane);
    void prepare(svc::Job & job) const;

    std::shared_ptr<const Model> model_;
    uint32_t n_ctx_;
    std::function<void(const Job &)> done_;
    std::function<void(const Job &, const Status &)> failed_;
    std::mutex mutex_;
    bool closing_ = false;
    Lane quick_;
    Lane slow_;
};

}  // namespace svc
