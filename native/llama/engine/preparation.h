// From what a caller asked for to what the engine runs: renders templates, tokenises, compiles grammars, on threads of its own:
// one for what is quick, and few for what takes up to seconds: long prompts, media, and grammars, schemas and tools that are
// large or turn out to be slow. Of those, a tenant has one at a time prepared. What fails here never reaches the engine thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../../common/status.h"
#include "../../scheduling/fair_queue.h"
#include "../model/model.h"
#include "../queue/job.h"
#include "../sampling/answer_bounds.h"
#include "../tuning/tuning.h"

namespace svc {

// Gives the generations what samples and writes their answers, where they lack it. Throws StatusError invalid_grammar or
// grammar_too_complex, and GrammarLate where the GrammarBudget of the calling thread is spent.
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
        size_t n_threads;
        double compile_ms;  // of the processor, for a job with a grammar
        std::condition_variable changed = {};
        FairQueue<Job> waiting = {};         // over jobs: a tenant with thousands delays another's by one
        std::set<std::string> tenants = {};  // of whom a job is being prepared
        std::vector<std::thread> threads = {};
    };
    void add(Lane & lane, const Job & job);
    void run(Lane & lane);
    Job take(Lane & lane);
    bool take_next(Lane & lane, Job & job);
    void leave(Lane & lane, const svc::Job & job);
    void work_on(Lane & lane, const Job & job);
    bool prepare(svc::Job & job, double compile_ms) const;

    std::shared_ptr<const Model> model_;
    AnswerBounds bounds_;
    uint32_t n_ctx_;
    std::function<void(const Job &)> done_;
    std::function<void(const Job &, const Status &)> failed_;
    std::mutex mutex_;
    bool closing_ = false;
    Lane quick_{1, kTuning.quick_compile_ms};
    Lane slow_{kTuning.slow_preparing_threads, kTuning.grammar_compile_ms};
};

}  // namespace svc
