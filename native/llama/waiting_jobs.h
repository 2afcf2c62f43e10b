// Jobs that wait for a sequence, and whose turn it is: priority first, then tenants that run nothing, then the tenant that was
// served least, then arrival.
//
// Tenants share by start-time fair queueing over tokens: each has a clock that advances by what it is served, the one that is
// furthest behind goes first, and one that comes back from a pause starts at the present, so that nobody saves up a burst.
// Every call is O(log n). Engine thread only.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "job.h"

namespace svc {

class WaitingJobs {
  public:
    void push(std::shared_ptr<Job> job);
    // Whose turn it is among those of whom `is_ready` is true; null when there is none. It is asked about one job of each tenant
    // at most.
    template <typename Test> Job * front(Test && is_ready) const {
        for (const auto & turn : turns_) {
            auto * job = turn.tenant->jobs.begin()->second.get();
            if (is_ready(*job)) return job;
        }
        return nullptr;
    }
    // Takes a job out, wherever it stands; null when it is not here.
    std::shared_ptr<Job> remove(uint32_t id);
    // Takes out those whose deadline has passed.
    std::vector<std::shared_ptr<Job>> take_expired(Clock::time_point now);
    std::vector<std::shared_ptr<Job>> take_all();
    bool empty() const { return places_.empty(); }

    // The job begins: its prompt and what its tenant's answers usually come to are served now, settle() corrects it.
    void charge(Job & job);
    // The job is over and generated so many tokens.
    void settle(const Job & job, uint32_t n_generated);
    // Whether a waiting job of `tenant` would come before one of `other` with the same priority.
    bool is_behind(const std::string & tenant, const std::string & other) const;

  private:
    struct Place {
        int32_t priority;
        uint64_t arrival;
        bool operator<(const Place & other) const {
            return priority != other.priority ? priority > other.priority : arrival < other.arrival;
        }
    };
    struct Tenant {
        double served = 0;         // tokens, on the clock of all
        double usual_answer = 64;  // tokens
        uint32_t n_running = 0;    // jobs
        std::map<Place, std::shared_ptr<Job>> jobs;
    };
    struct Turn {
        int32_t priority;
        bool runs;
        double served;
        uint64_t arrival;
        Tenant * tenant;
        bool operator<(const Turn & other) const;
    };

    Turn turn_of(Tenant & tenant) const;
    Tenant & tenant_of(const std::string & name);
    void serve(Tenant & tenant, double n_tokens, int n_begun);
    void forget_idle_tenants();

    std::unordered_map<std::string, Tenant> tenants_;
    std::set<Turn> turns_;  // one for each tenant that waits
    std::unordered_map<uint32_t, std::pair<Tenant *, Place>> places_;
    std::set<std::pair<Clock::time_point, uint32_t>> deadlines_;
    double now_ = 0;  // where the tenant stood that was served last
    uint64_t n_arrived_ = 0;
};

}  // namespace svc
