#include "compute_contention.h"

#include <sys/resource.h>

#include "tuning.h"

#ifdef SVC_HAS_COMPUTE_TEAM
#include "../llama-cpp/compute_team.h"
#endif

namespace svc {

#ifdef SVC_HAS_COMPUTE_TEAM

bool ComputeContention::is_contended() { return state().queued_share > kSchedulingTuning.contended_share; }

ComputeContention::State ComputeContention::state() const {
    const auto team = svc_compute_team_state_of_caller();
    return {team.poll_us, team.queued_share};
}

#else

namespace {

// Where another runtime computes, the process's involuntary context switches tell.
uint64_t count_involuntary_switches() {
    struct rusage usage {};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_nivcsw) : 0;
}

}  // namespace

bool ComputeContention::is_contended() {
    const auto now = Clock::now();
    const uint64_t n_before = n_switches_;
    const double seconds = std::chrono::duration<double>(now - asked_).count();
    n_switches_ = count_involuntary_switches();
    asked_ = now;
    return static_cast<double>(n_switches_ - n_before) > kSchedulingTuning.contended_switches_per_s * seconds;
}

ComputeContention::State ComputeContention::state() const { return {0, 0}; }

#endif

}  // namespace svc
