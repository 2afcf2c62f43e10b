#include "running_jobs.h"

#include "../../common/memory_wait.h"

#include <algorithm>

namespace svc {

void RunningJobs::add(std::shared_ptr<Job> job) {
    const MemoryWait wait;
    for (auto & generation : job->generations) generations_.push_back(generation.get());
    jobs_.push_back(std::move(job));
}

void RunningJobs::remove(const Job & job) {
    const auto is_its = [&](const Generation * generation) { return generation->job == &job; };
    generations_.erase(std::remove_if(generations_.begin(), generations_.end(), is_its), generations_.end());
    const auto is_it = [&](const auto & held) { return held.get() == &job; };
    jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), is_it), jobs_.end());
}

uint32_t RunningJobs::n_active() const {
    return static_cast<uint32_t>(
        std::count_if(generations_.begin(), generations_.end(), [](const Generation * g) { return g->active(); }));
}

std::map<std::string_view, int> RunningJobs::count_by_tenant() const {
    std::map<std::string_view, int> running;
    for (const auto * generation : generations_) running[generation->job->options.tenant] += generation->active();
    return running;
}

Generation * RunningJobs::youngest_active() const {
    const auto found = std::find_if(generations_.rbegin(), generations_.rend(), [](const Generation * g) { return g->active(); });
    return found == generations_.rend() ? nullptr : *found;
}

}  // namespace svc
