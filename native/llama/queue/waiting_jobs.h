// Jobs that wait for a sequence, in a fair queue over tokens. Every call is O(log n). Engine thread only.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../scheduling/fair_queue.h"
#include "job.h"

namespace svc {

class WaitingJobs {
  public:
    void push(std::shared_ptr<Job> job);
    // Whose turn it is among those of whom `is_ready` is true; null when there is none. It is asked about one job of each tenant
    // at most.
    template <typename Test> Job * front(Test && is_ready) {
        const auto * job = queue_.front([&](const auto & held) { return is_ready(*held); });
        return job ? job->get() : nullptr;
    }
    // Takes a job out, wherever it stands; null when it is not here.
    std::shared_ptr<Job> remove(uint32_t id);
    // Takes out those whose deadline has passed.
    std::vector<std::shared_ptr<Job>> take_expired(Clock::time_point now);
    std::vector<std::shared_ptr<Job>> take_all();
    bool empty() const { return queue_.empty(); }

    // The job begins: its prompt and what its tenant's answers mostly come to are served now, reconcile() corrects it.
    void charge(Job & job);
    // The job is over and generated so many tokens.
    void reconcile(const Job & job, uint32_t n_generated);
    // Whether a waiting job of `tenant` would come before one of `other` with the same priority.
    bool is_behind(const std::string & tenant, const std::string & other) const { return queue_.is_behind(tenant, other); }

  private:
    using Queue = FairQueue<std::shared_ptr<Job>>;

    Queue queue_;
    std::unordered_map<uint32_t, Queue::Ticket> tickets_;
    std::set<std::pair<Clock::time_point, uint32_t>> deadlines_;
};

}  // namespace svc
