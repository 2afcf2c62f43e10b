#include "row_cost.h"

#include "../tuning/tuning.h"

namespace svc {

namespace {

// Before depths told otherwise, a row costs twice as much at the far depth.
constexpr double kFirstSlope = 1 / kTuning.row_cost_far_depth;

}  // namespace

void RowCost::Sums::add(double depth, double ms, double weight) {
    weight /= ms * ms;
    w += weight;
    wd += weight * depth;
    wdd += weight * depth * depth;
    wc += weight * ms;
    wdc += weight * depth * ms;
}

void RowCost::Sums::scale(double factor) {
    for (auto * sum : {&w, &wd, &wdd, &wc, &wdc}) *sum *= factor;
}

// Afterwards all that was measured has cost so many times as much.
void RowCost::Sums::rescale_costs(double factor) {
    for (auto * sum : {&w, &wd, &wdd}) *sum /= factor * factor;
    for (auto * sum : {&wc, &wdc}) *sum /= factor;
}

double RowCost::observe(double measured, double depth) {
    const double cost = Estimate::bounded(measured);
    if (!is_known()) {
        base_ms_ = cost / (1 + kFirstSlope * depth);
        depth_ms_ = kFirstSlope * base_ms_;
        sums_.add(depth, cost, 1);
        return 0;
    }
    const double surprise = Estimate::surprise(cost, ms(depth));
    double believed = cost;
    if (Estimate::is_large(surprise)) {
        // The machine has changed, or something disturbed it: all that is known moves along, by as much as is believed of it.
        const double factor = std::exp(Estimate::move(surprise, last_));
        base_ms_ = Estimate::bounded(base_ms_ * factor);
        depth_ms_ *= factor;
        sums_.rescale_costs(factor);
        believed = ms(depth);
    }
    last_ = surprise;
    sums_.scale(kTuning.row_cost_kept);
    sums_.add(depth, believed, 1);
    fit();
    return surprise;
}

void RowCost::fit() {
    auto all = sums_;
    all.add(0, ms(0), kTuning.row_cost_belief);
    all.add(kTuning.row_cost_far_depth, ms(kTuning.row_cost_far_depth), kTuning.row_cost_belief);
    const double spread = all.w * all.wdd - all.wd * all.wd;
    const double slope = (all.w * all.wdc - all.wd * all.wc) / spread;
    const double base = (all.wc - slope * all.wd) / all.w;
    if (!std::isfinite(slope) || !std::isfinite(base)) return;
    const double far = std::max(base + slope * kTuning.row_cost_far_depth, Estimate::bounded(0));
    base_ms_ = Estimate::bounded(std::clamp(base, kTuning.row_cost_least_base * far, 2 * far));
    depth_ms_ = std::max(0.0, (far - base_ms_) / kTuning.row_cost_far_depth);
}

}  // namespace svc
