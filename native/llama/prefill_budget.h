// How many prompt tokens a step may evaluate while others decode: as many as double the time of a decode step, by measurement.
//
// When many short prompts arrive together, one long step serves everybody better: to let them in a few at a time would run many
// steps with few sequences, and each such step costs nearly as much as a full one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace svc {

class PrefillBudget {
  public:
    explicit PrefillBudget(uint32_t n_most) : n_most_(n_most) {}

    // `n_short`: waiting prompts that one step could take whole.
    uint32_t tokens(uint32_t n_decoding, size_t n_short) const {
        const bool burst = n_short > 1 && n_short * kBurstShare > n_decoding;
        if (n_decoding == 0 || burst || decode_ms_ <= 0 || prefill_ms_per_token_ <= 0) return n_most_;
        const double fits = decode_ms_ / prefill_ms_per_token_;
        return static_cast<uint32_t>(
            std::clamp(fits, static_cast<double>(std::min(kLeast, n_most_)), static_cast<double>(n_most_)));
    }

    uint32_t n_most() const { return n_most_; }
    // Measured; 0 before the first prompt.
    double prefill_ms_per_token() const { return prefill_ms_per_token_; }

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
    // A burst: at least one short prompt for so many that decode.
    static constexpr uint32_t kBurstShare = 2;
    static double blend(double old, double fresh) { return old <= 0 ? fresh : 0.8 * old + 0.2 * fresh; }

    uint32_t n_most_;
    double decode_ms_ = 0;
    double prefill_ms_per_token_ = 0;
};

}  // namespace svc
