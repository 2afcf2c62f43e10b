// A measured quantity that steers: positive, and bounded.
//
// A measurement that surprises moves it by a share, and by a factor at most: an outlier does little. A second one that surprises
// in the same direction is believed: no falsehood lasts. Who goes by it sees to it that it is measured again, whatever it says.
#pragma once

#include <algorithm>
#include <cmath>

namespace svc {

class Estimate {
  public:
    bool is_known() const { return value_ > 0; }
    // 0 before the first measurement.
    double value() const { return value_; }
    double value_or(double fallback) const { return is_known() ? value_ : fallback; }

    // By how much a measurement differs from what was expected, as a logarithm.
    static double surprise(double measured, double expected) { return std::log(bounded(measured) / bounded(expected)); }
    static bool is_large(double surprise) { return std::abs(surprise) > kLarge; }
    // What to add to the logarithm of what was expected, after a surprise that followed another.
    static double move(double surprise, double before) {
        const bool is_confirmed = is_large(surprise) && is_large(before) && (surprise > 0) == (before > 0);
        return is_confirmed ? surprise : kBlend * std::clamp(surprise, -kMostAtOnce, kMostAtOnce);
    }
    static double bounded(double value) { return std::isfinite(value) ? std::clamp(value, kLeast, kMost) : kMost; }

    // Takes a measurement in; returns its surprise, 0 for the first.
    double observe(double measured) {
        if (!is_known()) {
            value_ = bounded(measured);
            return 0;
        }
        const double by = surprise(measured, value_);
        value_ = bounded(value_ * std::exp(move(by, last_)));
        last_ = by;
        return by;
    }
    // It is known to be no more than this.
    void lower_to(double most) {
        if (is_known()) value_ = bounded(std::min(value_, most));
    }

  private:
    static constexpr double kLeast = 1e-12;
    static constexpr double kMost = 1e15;
    static constexpr double kBlend = 0.4;
    static constexpr double kMostAtOnce = 1.4;  // 4 times
    static constexpr double kLarge = 0.35;      // 1.4 times

    double value_ = 0;
    double last_ = 0;  // surprise
};

}  // namespace svc
