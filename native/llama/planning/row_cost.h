// What a row of a prompt costs by the tokens in front of it: a part that is always there and one that grows with them, fitted to
// what steps took, relative errors alike. Earlier steps count less and less.
#pragma once

#include "../../common/estimate.h"

namespace svc {

class RowCost {
  public:
    bool is_known() const { return base_ms_ > 0; }
    // 0 before the first measurement.
    double ms(double depth) const { return base_ms_ + depth_ms_ * depth; }
    double base_ms() const { return base_ms_; }
    double depth_ms() const { return depth_ms_; }

    // Takes a measurement in; returns its surprise, as Estimate does.
    double observe(double ms, double depth);

  private:
    // Sums over measurements (weight, depth, cost), each weighted by one over its cost's square.
    struct Sums {
        double w = 0, wd = 0, wdd = 0, wc = 0, wdc = 0;
        void add(double depth, double ms, double weight);
        void scale(double factor);
        void rescale_costs(double factor);
    };

    void fit();

    double base_ms_ = 0;
    double depth_ms_ = 0;
    double last_ = 0;  // surprise
    Sums sums_;
};

}  // namespace svc
