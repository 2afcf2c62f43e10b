#include "admission_control.h"

#include <algorithm>

#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

uint64_t AdmissionControl::enter(const std::string & tenant, uint64_t n_bytes, int64_t timeout_ms) {
    std::lock_guard lock(mutex_);
    const uint32_t n_mine = shares_.n_waiting(tenant);
    const size_t n_tenants = shares_.n_tenants() + (n_mine == 0);
    const double wait = wait_ms(n_mine, n_tenants);
    if (is_full(n_mine, n_tenants)) refuse("too many requests are waiting", wait);
    if (limits_.wait_ms > 0 && wait > limits_.wait_ms) refuse("the wait would be too long", wait);
    if (timeout_ms > 0 && wait > static_cast<double>(timeout_ms))
        refuse("the request's time limit would pass in the queue", wait);
    shares_.begin_waiting(shares_.of(tenant));
    n_jobs_++;
    const uint64_t n_estimated = tokens_of(n_bytes);
    n_tokens_ += n_estimated;
    return n_estimated;
}

void AdmissionControl::leave(const std::string & tenant, uint64_t n_tokens) {
    std::lock_guard lock(mutex_);
    n_jobs_--;
    n_tokens_ -= n_tokens;
    shares_.end_waiting(shares_.of(tenant));
}

bool AdmissionControl::is_full(uint32_t n_of_tenant, size_t n_tenants) const {
    if (n_jobs_ >= limits_.n_jobs) return true;
    const uint32_t n_open = limits_.n_jobs - limits_.n_jobs / kTuning.reserved_part;
    const bool has_share = n_of_tenant < std::max<size_t>(1, limits_.n_jobs / (n_tenants + 1));
    if (n_jobs_ >= n_open && !has_share) return true;
    // A tenant with nothing in the queue may still add to it.
    return n_tokens_ >= limits_.n_tokens && n_of_tenant > 0;
}

// Turns go round the tenants, so a tenant waits for its own jobs and for as many of each other one.
double AdmissionControl::wait_ms(uint32_t n_of_tenant, size_t n_tenants) const {
    const double n_ahead = std::min<double>(n_jobs_, static_cast<double>(n_of_tenant) * static_cast<double>(n_tenants));
    const double rate = rate_;
    return rate > 0 ? 1000 * n_ahead / rate : 0;
}

void AdmissionControl::refuse(const char * why, double retry_ms) const {
    if (retry_ms <= 0) retry_ms = rate_ > 0 ? 1000 / rate_ : kTuning.unknown_retry_ms;
    throw StatusError(
        {"queue_full", why, static_cast<uint32_t>(std::clamp(retry_ms, kTuning.least_retry_ms, kTuning.most_retry_ms)), 0});
}

AdmissionControl::Limits queue_limits(const EngineOptions & options) {
    return {options.max_queued_jobs ? options.max_queued_jobs : kTuning.auto_queued_jobs,
            options.max_queued_tokens ? options.max_queued_tokens : kTuning.auto_queued_tokens, options.max_queue_ms};
}

}  // namespace svc
