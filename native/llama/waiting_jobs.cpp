#include "waiting_jobs.h"

#include <algorithm>
#include <tuple>

namespace svc {

namespace {

constexpr size_t kMostTenants = 4096;
constexpr double kAnswerMemory = 0.9;

}  // namespace

bool WaitingJobs::Turn::operator<(const Turn & other) const {
    return std::tuple(-priority, runs, served, arrival) < std::tuple(-other.priority, other.runs, other.served, other.arrival);
}

WaitingJobs::Turn WaitingJobs::turn_of(Tenant & tenant) const {
    const auto & place = tenant.jobs.begin()->first;
    return {place.priority, tenant.n_running > 0, tenant.served, place.arrival, &tenant};
}

WaitingJobs::Tenant & WaitingJobs::tenant_of(const std::string & name) {
    if (tenants_.size() >= kMostTenants && !tenants_.count(name)) forget_idle_tenants();
    return tenants_[name];
}

void WaitingJobs::push(std::shared_ptr<Job> job) {
    auto & tenant = tenant_of(job->options.tenant);
    if (tenant.jobs.empty()) tenant.served = std::max(tenant.served, now_);
    else turns_.erase(turn_of(tenant));
    const Place place{job->options.priority, n_arrived_++};
    places_[job->id] = {&tenant, place};
    if (job->deadline != Clock::time_point::max()) deadlines_.emplace(job->deadline, job->id);
    tenant.jobs.emplace(place, std::move(job));
    turns_.insert(turn_of(tenant));
}

std::shared_ptr<Job> WaitingJobs::remove(uint32_t id) {
    auto found = places_.find(id);
    if (found == places_.end()) return nullptr;
    auto [tenant, place] = found->second;
    places_.erase(found);
    turns_.erase(turn_of(*tenant));
    auto node = tenant->jobs.extract(place);
    if (!tenant->jobs.empty()) turns_.insert(turn_of(*tenant));
    auto job = std::move(node.mapped());
    deadlines_.erase({job->deadline, id});
    return job;
}

std::vector<std::shared_ptr<Job>> WaitingJobs::take_expired(Clock::time_point now) {
    std::vector<std::shared_ptr<Job>> expired;
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) expired.push_back(remove(deadlines_.begin()->second));
    return expired;
}

std::vector<std::shared_ptr<Job>> WaitingJobs::take_all() {
    std::vector<std::shared_ptr<Job>> all;
    while (!places_.empty()) all.push_back(remove(places_.begin()->first));
    return all;
}

void WaitingJobs::charge(Job & job) {
    auto & tenant = tenant_of(job.options.tenant);
    now_ = std::max(now_, tenant.served);
    const double most = job.options.max_tokens > 0 ? job.options.max_tokens : tenant.usual_answer;
    job.charged_answer = std::min(most, tenant.usual_answer) * job.options.n;
    serve(tenant, static_cast<double>(job.prompt.tokens.size() - job.n_cached) + job.charged_answer, 1);
}

void WaitingJobs::settle(const Job & job, uint32_t n_generated) {
    auto & tenant = tenant_of(job.options.tenant);
    const double one_answer = static_cast<double>(n_generated) / job.options.n;
    tenant.usual_answer = kAnswerMemory * tenant.usual_answer + (1 - kAnswerMemory) * one_answer;
    serve(tenant, n_generated - job.charged_answer, -1);
}

void WaitingJobs::serve(Tenant & tenant, double n_tokens, int n_begun) {
    if (!tenant.jobs.empty()) turns_.erase(turn_of(tenant));
    tenant.served += n_tokens;
    tenant.n_running += static_cast<uint32_t>(n_begun);
    if (!tenant.jobs.empty()) turns_.insert(turn_of(tenant));
}

bool WaitingJobs::is_behind(const std::string & tenant, const std::string & other) const {
    auto standing = [this](const std::string & name) {
        auto found = tenants_.find(name);
        return found == tenants_.end() ? std::tuple(false, now_) : std::tuple(found->second.n_running > 0, found->second.served);
    };
    return standing(tenant) < standing(other);
}

void WaitingJobs::forget_idle_tenants() {
    for (auto it = tenants_.begin(); it != tenants_.end();) {
        const bool idle = it->second.jobs.empty() && it->second.n_running == 0;
        it = idle ? tenants_.erase(it) : std::next(it);
    }
}

}  // namespace svc
