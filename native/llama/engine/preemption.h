// Which sequences are given up for others, and where cells come from when they run out. A generation that is preempted goes on
// later, from what stayed of its state or evaluated again. Engine thread only.
#pragma once

#include "../queue/waiting_jobs.h"
#include "kv_cache.h"
#include "running_jobs.h"

namespace svc {

class Preemption {
  public:
    Preemption(const RunningJobs & running, KvCache & kv) : running_(running), kv_(kv) {}

    // Cells ran out: admitting now would take the same cells again and nobody would get on. Without a generation that uses them
    // there are cells.
    bool is_holding() const { return is_holding_ && running_.n_active() > 0; }
    // A sequence for a job that waits. False: it has to wait for an end.
    bool preempt_for(const Job & candidate, const WaitingJobs & waiting);
    // Takes the sequence of a generation whose client has not read for a while; a few of those would keep everybody out. False:
    // all read.
    bool preempt_slow_reader();
    // Where cells run low in unified KV, the youngest generation's state is saved while the others run on.
    void swap_out_early();
    // No cells for a step: forgets a cached prefix, or preempts. Returns the generation that is alone and still too large, whose
    // context is full; null where there are cells now. Throws StatusError internal.
    Generation * free_kv_cells();
    // Every sequence is given back here.
    void release(Generation & generation);

  private:
    void preempt(Generation & generation);
    void end_swap_out(Generation & generation);
    void take_cells(Generation & generation);
    Generation * find_slow_reader() const;
    Generation * find_victim(const Job & candidate, const WaitingJobs & waiting) const;

    const RunningJobs & running_;
    KvCache & kv_;
    Generation * swapping_out_ = nullptr;
    bool is_holding_ = false;
};

}  // namespace svc
