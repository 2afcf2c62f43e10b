// How much may wait, by jobs, tokens and time, and how much of it one tenant may fill. What is beyond is refused with the time
// after which a retry is worthwhile. Thread-safe and O(1).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "../../scheduling/tenant_shares.h"
#include "../options/options.h"
#include "../tuning/tuning.h"

namespace svc {

class AdmissionControl {
  public:
    struct Limits {
        uint32_t n_jobs;
        uint64_t n_tokens;
        uint32_t wait_ms;  // 0: no limit
    };

    void set_limits(const Limits & limits) { limits_ = limits; }

    // A job of about so many bytes of text comes to wait. Throws StatusError queue_full; so it does for a job whose own time
    // (0: none) would pass in the queue. Returns the tokens that it counts for, until recount() knows better.
    uint64_t enter(const std::string & tenant, uint64_t n_bytes, int64_t timeout_ms);
    static uint64_t tokens_of(uint64_t n_bytes) { return n_bytes / kTuning.bytes_per_token; }
    void recount(uint64_t n_counted, uint64_t n_tokens) { n_tokens_ += n_tokens - n_counted; }
    void leave(const std::string & tenant, uint64_t n_tokens);

    // Completions a second under full load, as measured; 0: not known yet.
    void set_rate(double jobs_per_second) { rate_ = jobs_per_second; }
    double rate() const { return rate_; }
    uint32_t n_jobs() const { return n_jobs_; }
    uint64_t n_tokens() const { return n_tokens_; }

  private:
    bool is_full(uint32_t n_of_tenant, size_t n_tenants) const;
    double wait_ms(uint32_t n_of_tenant, size_t n_tenants) const;
    [[noreturn]] void refuse(const char * why, double retry_ms) const;

    Limits limits_{};
    std::mutex mutex_;
    TenantShares shares_;
    std::atomic<uint32_t> n_jobs_{0};
    std::atomic<uint64_t> n_tokens_{0};
    std::atomic<double> rate_{0};
};

// What automatic limits of a queue come to.
AdmissionControl::Limits queue_limits(const EngineOptions & options);

}  // namespace svc
