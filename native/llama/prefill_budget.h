// How many prompt tokens a step may evaluate, by measured time.
//
// Nobody decodes: as many as a new arrival may be kept waiting for. Somebody decodes: as many as double a decode step's time. Two
// exceptions serve everybody better. A chunk of kTile rows is always worth it where it is quick: ggml's attention on a CPU takes
// 2.6 times as long for a row of a smaller one (4,000 tokens, head size 64). And when more prompts wait than sequences decode,
// the prompts go first: a few at a time, they would run many steps with few sequences, which cost nearly as much as full ones.
#pragma once

#include <algorithm>
#include <cstdint>

namespace svc {

class PrefillBudget {
  public:
    // Rows of one attention tile (GGML_FA_TILE_Q in ggml-cpu); the last tile of a chunk is computed whole.
    static constexpr uint32_t kTile = 64;

    explicit PrefillBudget(uint32_t n_most) : n_most_(n_most) {}

    // For `n_waiting` prompts with n_tokens left together. A multiple of kTile where it reaches one.
    uint32_t tokens(uint32_t n_decoding, size_t n_waiting, size_t n_tokens) const {
        if (ms_per_token_ <= 0) return n_most_;
        const bool burst = n_waiting > n_decoding && static_cast<double>(n_tokens) * ms_per_token_ <= kBurstMs;
        const double most_ms = n_decoding == 0 || burst ? kQuantumMs : std::max(decode_ms_, tile_ms());
        const auto n = static_cast<uint32_t>(std::clamp(most_ms / ms_per_token_, kLeast, static_cast<double>(n_most_)));
        return n < kTile ? n : n / kTile * kTile;
    }

    // Measured; 0 before the first prompt.
    double ms_per_token() const { return ms_per_token_; }

    // Feeds one step's measurement.
    void observe(double step_ms, uint32_t n_decoding, uint32_t n_prefill) {
        if (n_prefill == 0) {
            if (n_decoding > 0) decode_ms_ = blend(decode_ms_, step_ms);
            return;
        }
        const double extra_ms = std::max(0.0, step_ms - (n_decoding > 0 ? decode_ms_ : 0));
        // A few tokens cost a pass over the weights, which says nothing about a chunk.
        if (n_prefill >= kTile || ms_per_token_ <= 0) ms_per_token_ = blend(ms_per_token_, extra_ms / n_prefill);
    }

  private:
    static constexpr double kLeast = 16;
    static constexpr double kQuantumMs = 100;
    // Longest that a burst may hold up those who decode, in steps of kQuantumMs.
    static constexpr double kBurstMs = 2000;
    // Longest tile that is worth it.
    static constexpr double kTileMs = 45;

    static double blend(double old, double fresh) { return old <= 0 ? fresh : 0.8 * old + 0.2 * fresh; }
    // What a whole tile takes (a hair more, so that division gives it back), if that is not too long.
    double tile_ms() const {
        const double ms = (kTile + 0.5) * ms_per_token_;
        return ms <= kTileMs ? ms : 0;
    }

    uint32_t n_most_;
    double decode_ms_ = 0;
    double ms_per_token_ = 0;
};

}  // namespace svc
