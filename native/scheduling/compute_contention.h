// Whether other programs want the cores that the calling thread and its compute threads run on. One thread only.
#pragma once

#include "../common/clock.h"

namespace svc {

class ComputeContention {
  public:
    // It judges the time since it was asked last.
    bool is_contended();

    struct State {
        double poll_us;       // that a compute thread polls for the others before it sleeps; 0 where that is unknown
        double queued_share;  // of the time that compute threads stood in run queues
    };
    State state() const;

  private:
    uint64_t n_switches_ = 0;
    Clock::time_point asked_{};
};

}  // namespace svc
