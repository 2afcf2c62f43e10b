// Jobs that began, and their generations in the order in which they began. Engine thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "../queue/job.h"

namespace svc {

class RunningJobs {
  public:
    void add(std::shared_ptr<Job> job);
    // Nothing where the job is not here.
    void remove(const Job & job);

    const std::vector<std::shared_ptr<Job>> & jobs() const { return jobs_; }
    const std::vector<Generation *> & generations() const { return generations_; }

    // Generations with a sequence.
    uint32_t n_active() const;
    // The same of each tenant.
    std::map<std::string_view, int> count_by_tenant() const;
    // Null when none is active.
    Generation * youngest_active() const;

  private:
    std::vector<std::shared_ptr<Job>> jobs_;
    std::vector<Generation *> generations_;
};

}  // namespace svc
