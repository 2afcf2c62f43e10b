// Jobs that wait for the preparing thread: tenants in turn, so that one with thousands delays another's by one.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "job.h"

namespace svc {

class PreparingJobs {
  public:
    bool empty() const { return turns_.empty(); }

    void push(std::shared_ptr<Job> job) {
        auto & jobs = by_tenant_[job->options.tenant];
        if (jobs.empty()) turns_.push_back(job->options.tenant);
        jobs.push_back(std::move(job));
    }

    // Not for an empty queue.
    std::shared_ptr<Job> pop() {
        auto tenant = std::move(turns_.front());
        turns_.pop_front();
        auto found = by_tenant_.find(tenant);
        auto job = std::move(found->second.front());
        found->second.pop_front();
        if (found->second.empty()) by_tenant_.erase(found);
        else turns_.push_back(std::move(tenant));
        return job;
    }

  private:
    std::deque<std::string> turns_;
    std::unordered_map<std::string, std::deque<std::shared_ptr<Job>>> by_tenant_;
};

}  // namespace svc
