#include "tenant_shares.h"

#include <cmath>

namespace svc {

TenantShares::Share & TenantShares::of(const std::string & tenant) {
    const auto found = shares_.find(tenant);
    if (found != shares_.end()) return found->second;
    if (shares_.size() >= kSchedulingTuning.most_tenants) forget_idle();
    return shares_[tenant];
}

const TenantShares::Share * TenantShares::find(const std::string & tenant) const {
    const auto found = shares_.find(tenant);
    return found == shares_.end() ? nullptr : &found->second;
}

uint32_t TenantShares::n_waiting(const std::string & tenant) const {
    const auto * share = find(tenant);
    return share ? share->n_waiting : 0;
}

void TenantShares::begin_waiting(Share & share) {
    if (share.n_waiting++ > 0) return;
    n_tenants_++;
    share.served = std::max(share.served, now_);
}

void TenantShares::serve(Share & share, double cost) {
    now_ = std::max(now_, share.served);
    share.served += cost;
}

// Those that the present has caught up with lose nothing by it; the others go only where that is not enough.
void TenantShares::forget_idle() {
    forget_idle(now_);
    if (shares_.size() >= kSchedulingTuning.most_tenants) forget_idle(HUGE_VAL);
}

void TenantShares::forget_idle(double most_served) {
    for (auto it = shares_.begin(); it != shares_.end();) {
        const auto & share = it->second;
        const bool is_idle = share.n_waiting == 0 && share.n_running == 0 && share.served <= most_served;
        it = is_idle ? shares_.erase(it) : std::next(it);
    }
}

}  // namespace svc
