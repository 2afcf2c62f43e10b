// What a row of a prompt costs, by how many tokens stand in front of it: a fixed part and one that grows with them, fitted to
// what steps took. Earlier steps count less and less.
#pragma once

#include <algorithm>

namespace svc {

class PrefillCost {
  public:
    bool is_known() const { return weight_ > 0; }

    // Milliseconds; 0 before the first measurement.
    double ms_per_token(double depth) const {
        if (!is_known()) return 0;
        return std::max(kLeastMs, ms_ / weight_ + slope_ * (depth - depth_ / weight_));
    }
    double ms(double n_tokens, double depth) const { return n_tokens * ms_per_token(depth + n_tokens / 2); }

    // Whether attention to what stands in front takes as long as half of all the rest.
    bool is_deep(double depth) const { return slope_ * depth > 0.5 * (ms_per_token(depth) - slope_ * depth); }

    void observe(double ms_per_token, double depth) {
        for (auto * sum : {&weight_, &depth_, &ms_, &depth_square_, &depth_ms_}) *sum *= kKept;
        weight_ += 1;
        depth_ += depth;
        ms_ += ms_per_token;
        depth_square_ += depth * depth;
        depth_ms_ += depth * ms_per_token;
        // Where all came from about the same depth, they say nothing about the slope: the last one holds.
        const double spread = depth_square_ / weight_ - depth_ * depth_ / weight_ / weight_;
        if (spread < kLeastSpread * kLeastSpread) return;
        slope_ = std::max(0.0, (depth_ms_ / weight_ - depth_ * ms_ / weight_ / weight_) / spread);
    }

  private:
    static constexpr double kKept = 0.85;
    static constexpr double kLeastMs = 1e-4;
    static constexpr double kLeastSpread = 200;  // tokens

    double weight_ = 0, depth_ = 0, ms_ = 0, depth_square_ = 0, depth_ms_ = 0;
    double slope_ = 0;
};

}  // namespace svc
