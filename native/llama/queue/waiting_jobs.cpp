#include "waiting_jobs.h"

#include <algorithm>

#include "../../common/memory_wait.h"
#include "../tuning/tuning.h"

namespace svc {

void WaitingJobs::push(std::shared_ptr<Job> job) {
    const auto id = job->id;
    const auto deadline = job->deadline;
    const auto & options = job->options;
    auto & ticket = tickets_[id];
    try {
        if (deadline != Clock::time_point::max()) deadlines_.emplace(deadline, id);
        ticket = queue_.push(options.tenant, options.priority, job);
    } catch (...) {
        deadlines_.erase({deadline, id});
        tickets_.erase(id);
        throw;
    }
}

std::shared_ptr<Job> WaitingJobs::remove(uint32_t id) {
    const MemoryWait wait;
    const auto found = tickets_.find(id);
    if (found == tickets_.end()) return nullptr;
    auto job = queue_.remove(found->second);
    tickets_.erase(found);
    deadlines_.erase({job->deadline, id});
    return job;
}

std::vector<std::shared_ptr<Job>> WaitingJobs::take_expired(Clock::time_point now) {
    const MemoryWait wait;
    std::vector<std::shared_ptr<Job>> expired;
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) expired.push_back(remove(deadlines_.begin()->second));
    return expired;
}

std::vector<std::shared_ptr<Job>> WaitingJobs::take_all() {
    const MemoryWait wait;
    std::vector<std::shared_ptr<Job>> all;
    while (!tickets_.empty()) all.push_back(remove(tickets_.begin()->first));
    return all;
}

void WaitingJobs::charge(Job & job) {
    const MemoryWait wait;
    const auto & options = job.options;
    queue_.change_share(options.tenant, [&](TenantShares & shares, TenantShares::Share & share) {
        const double most = options.max_tokens > 0 ? options.max_tokens : share.answer_tokens;
        job.charged_answer = std::min(most, share.answer_tokens) * options.n;
        shares.serve(share, static_cast<double>(job.prompt.tokens.size() - job.n_cached) + job.charged_answer);
        share.n_running++;
    });
}

void WaitingJobs::reconcile(const Job & job, uint32_t n_generated) {
    const MemoryWait wait;
    queue_.change_share(job.options.tenant, [&](TenantShares &, TenantShares::Share & share) {
        const double one_answer = static_cast<double>(n_generated) / job.options.n;
        share.answer_tokens = kTuning.answer_memory * share.answer_tokens + (1 - kTuning.answer_memory) * one_answer;
        share.served += n_generated - job.charged_answer;
        share.n_running--;
    });
}

}  // namespace svc
