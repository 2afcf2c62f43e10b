// What each tenant has waiting, what it runs and what it was served: the account that fair queues and admission go by.
//
// Start-time fair queueing: each tenant has a clock that advances by what it is served, the one that is furthest behind goes
// first, and one that comes back from a pause starts at the present, so that nobody saves up a burst. One thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "tuning.h"

namespace svc {

class TenantShares {
  public:
    // One tenant has it.
    struct Share {
        double served = 0;  // on the clock of all
        uint32_t n_waiting = 0;
        uint32_t n_running = 0;
        double answer_tokens = kSchedulingTuning.first_answer_tokens;  // that an answer of it mostly comes to
    };

    // Stays where it is while the tenant has something waiting or running.
    Share & of(const std::string & tenant);
    // Null when nothing is known of the tenant.
    const Share * find(const std::string & tenant) const;
    uint32_t n_waiting(const std::string & tenant) const;
    // Tenants with something waiting.
    size_t n_tenants() const { return n_tenants_; }
    // Where the tenant stood that was served last.
    double now() const { return now_; }

    void begin_waiting(Share & share);
    void end_waiting(Share & share) { n_tenants_ -= --share.n_waiting == 0; }
    void serve(Share & share, double cost);

  private:
    void forget_idle();
    void forget_idle(double most_served);

    std::unordered_map<std::string, Share> shares_;
    size_t n_tenants_ = 0;
    double now_ = 0;
};

}  // namespace svc
