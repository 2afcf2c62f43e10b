#include "step_cost.h"

#include <algorithm>
#include <cmath>

#include "../tuning/tuning.h"

namespace svc {

StepCost::StepCost(uint32_t n_most_rows) : entries_(n_most_rows + 1), curve_(n_most_rows + 1, 0.0) {}

uint32_t StepCost::clamped(uint32_t rows) const { return std::min(rows, static_cast<uint32_t>(entries_.size() - 1)); }

double StepCost::of(uint32_t rows) const {
    const uint32_t known = clamped(rows);
    // Beyond the table: in proportion.
    return level_ * curve_[known] * (known == 0 ? 1.0 : static_cast<double>(rows) / known);
}

void StepCost::observe(const std::vector<uint32_t> & passes, double ms) {
    n_steps_++;
    double expected = 0;
    bool all_known = true;
    for (auto rows : passes) {
        expected += of(rows);
        all_known = all_known && is_known(rows);
    }
    const double ratio = expected > 0 ? ms / expected : 1;
    if (all_known) level_ *= std::pow(std::clamp(ratio, 0.25, 4.0), kTuning.step_cost_blend);
    for (auto rows : passes) {
        auto & entry = entries_[clamped(rows)];
        const double share = passes.size() == 1 ? ms : of(rows) * ratio;
        const double fresh = share / level_;
        entry.n_seen++;
        entry.at_step = n_steps_;
        // The first look may have met a disturbance: a better one replaces it.
        if (entry.n_seen <= 2) entry.ms = entry.ms == 0 ? fresh : std::min(entry.ms, fresh);
        else entry.ms += kTuning.step_cost_blend * (std::clamp(fresh, entry.ms * 0.5, entry.ms * 2) - entry.ms);
    }
    if (n_steps_ % 256 == 0) forget_old();
    interpolate();
}

void StepCost::forget_old() {
    for (auto & entry : entries_) {
        if (entry.n_seen > 0 && entry.at_step + kTuning.step_cost_memory < n_steps_) entry = {};
    }
}

void StepCost::interpolate() {
    n_known_ = 0;
    for (uint32_t rows = 1; rows < entries_.size(); rows++) {
        if (entries_[rows].n_seen == 0) continue;
        const double ms = entries_[rows].ms;
        const double before = n_known_ == 0 ? ms : curve_[n_known_];
        for (uint32_t i = n_known_; i < rows; i++) curve_[i] = before + (ms - before) * (i - n_known_) / (rows - n_known_);
        curve_[rows] = ms;
        n_known_ = rows;
    }
    if (n_known_ == 0) return;
    const double slope = kTuning.step_cost_slope * curve_[n_known_] / n_known_;
    for (uint32_t i = n_known_ + 1; i < curve_.size(); i++) curve_[i] = curve_[n_known_] + slope * (i - n_known_);
}

}  // namespace svc
