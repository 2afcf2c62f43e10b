// Which jobs run: who of those that wait gets a sequence, who is preempted for another, and how jobs end. Engine thread only.
//
// What the sequences start from is kv_cache.h's to say, what a step holds of them step_planner.h's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "../context/engine_limits.h"
#include "../model/model.h"
#include "../queue/job_inbox.h"
#include "../queue/service_rate.h"
#include "../queue/waiting_jobs.h"
#include "answer_writer.h"
#include "engine_stats.h"
#include "kv_cache.h"
#include "preemption.h"
#include "running_jobs.h"

namespace svc {

class Scheduler {
  public:
    Scheduler(const Model & model, const EngineLimits & limits, KvCache & kv, JobInbox & inbox, AnswerWriter & writer,
              EngineStats & stats);

    // Takes in what came from other threads, and ends what the writer found to be over and what has run out of time.
    void take(JobInbox::News & news);
    // Whether there is nothing to wait for but news.
    bool is_idle() const { return running_.jobs().empty() && waiting_.empty(); }
    // Between steps: a slice of the copying is done, and jobs are admitted.
    void admit_between_steps();
    // The step serves this set of adapters.
    void take_turn(std::string_view adapters);

    // No cells for a step: somebody gives some up.
    void free_kv_cells();
    // The generation's state was lost; it goes on from the start.
    void restart(Generation & generation);
    void finish(Generation & generation, Finish reason);
    void fail(Job & job, const Status & status);
    // Fails all that run and wait.
    void fail_all(const Status & status);

    const RunningJobs & running() const { return running_; }
    void publish();

  private:
    void drop_cancelled(const std::vector<uint32_t> & ids);
    void end_written();
    void expire();
    Clock::duration copy_slice() const;
    void copy(Clock::time_point until);
    void admit();
    bool admit(Generation & generation);
    bool try_admit(Generation & generation);
    Generation * next_waiting();
    void begin(Job & job);
    void end(Job & job);

    const Model & model_;
    const EngineLimits & limits_;
    KvCache & kv_;
    JobInbox & inbox_;
    AnswerWriter & writer_;
    EngineStats & stats_;
    WaitingJobs waiting_;
    RunningJobs running_;
    Preemption preemption_;
    ServiceRate service_rate_;
    uint64_t n_turns_ = 0;  // that sets of adapters were given
};

}  // namespace svc
