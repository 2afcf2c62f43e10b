// How many prompt tokens a step may evaluate while others decode: as many as double the time of a decode step, by measurement.
#pragma once

#include <algorithm>
#include <cstdint>

namespace svc {

class PrefillBudget {
  public:
    explicit PrefillBudget(uint32_t n_most) : n_most_(n_most) {}

    uint32_t tokens(uint32_t n_decoding) const {
        if (n_decoding == 0 || decode_ms_ <= 0 || prefill_ms_per_token_ <= 0) return n_most_;
        const double fits = decode_ms_ / prefill_ms_per_token_;
        return static_cast<uint32_t>(
            std::clamp(fits, static_cast<double>(std::min(kLeast, n_most_)), static_cast<double>(n_most_)));
    }

    // Feeds one step's measurement.
    void observe(double step_ms, uint32_t n_decoding, uint32_t n_prefill) {
        if (n_prefill == 0) {
            if (n_decoding > 0) decode_ms_ = blend(decode_ms_, step_ms);
            return;
        }
        const double extra = std::max(0.0, step_ms - (n_decoding > 0 ? decode_ms_ : 0));
        prefill_ms_per_token_ = blend(prefill_ms_per_token_, extra / n_prefill);
    }

  private:
    static constexpr uint32_t kLeast = 16;
    static double blend(double old, double fresh) { return old <= 0 ? fresh : 0.8 * old + 0.2 * fresh; }

    uint32_t n_most_;
    double decode_ms_ = 0;
    double prefill_ms_per_token_ = 0;
};

}  // namespace svc
