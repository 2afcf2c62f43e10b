// How many prompt tokens a step may evaluate, by measured time.
//
// Nobody decodes: as many as a new arrival may be kept waiting for. Somebody decodes: as many as double a decode step's time. Two
// exceptions serve everybody better. Chunks that computing is efficient with are always worth it where they are quick: small ones
// take a third longer altogether (8 layers of 512 on 2 cores: 0.25 ms a row in chunks of 64, 0.19 in chunks of 192), and ggml's
// attention on a CPU 2.6 times as long for a row of fewer than kTile (4,000 tokens, head size 64). The prompt and the streams
// beside it are then done sooner (4,000 tokens beside 4 streams: chunks of 64 4.8 s, these 4.5 s), and the worst gap is the same,
// as the deepest chunks make it. And in a crowd, or when little is left, a step takes as much as those who decode may be held up
// for: everybody who waits pays for steps with few sequences, which cost nearly as much as full ones.
#pragma once

#include <algorithm>
#include <cstdint>

#include "prefill_cost.h"

namespace svc {

class PrefillBudget {
  public:
    // Rows of one attention tile (GGML_FA_TILE_Q in ggml-cpu); the last tile of a chunk is computed whole.
    static constexpr uint32_t kTile = 64;
    // Rows that are as quick, each, as in any larger chunk.
    static constexpr uint32_t kEfficient = 3 * kTile;

    struct Prompts {
        size_t count;
        size_t n_tokens;    // left, of all together
        size_t depth;       // tokens in front of those of the first
        bool others_queue;  // jobs wait for a sequence
        bool has_company;   // other contexts want the cores
    };

    explicit PrefillBudget(uint32_t n_most) : n_most_(n_most) {}

    // For the prompts that a step may take from, at least one. All that a batch has room for before the first measurement. A
    // multiple of kTile where attention is what takes long.
    uint32_t tokens(uint32_t n_decoding, const Prompts & prompts) {
        const double each_ms = cost_.ms_per_token(prompts.depth);
        // More prompts than sequences that decode are a burst, until the last of them is done.
        const double all_ms = static_cast<double>(prompts.n_tokens) * each_ms;
        burst_ = (burst_ || prompts.count > n_decoding) && all_ms <= kBurstMs;
        const bool hurries = burst_ || prompts.others_queue || all_ms <= kBriefMs;
        if (each_ms <= 0) return n_most_;
        const auto n = std::clamp(most_ms(n_decoding, prompts, each_ms, hurries) / each_ms, kLeast, static_cast<double>(n_most_));
        const auto n_whole = static_cast<uint32_t>(n);
        return n_whole < kTile || !cost_.is_deep(prompts.depth) ? n_whole : n_whole / kTile * kTile;
    }

    // No prompt is left.
    void end_burst() { burst_ = false; }

    const PrefillCost & cost() const { return cost_; }

    // Feeds one step's measurement. `depth`: tokens in front of the prompts' rows, on average.
    void observe(double step_ms, uint32_t n_decoding, uint32_t n_prefill, double depth) {
        if (n_prefill == 0) {
            if (n_decoding > 0) decode_ms_ = decode_ms_ <= 0 ? step_ms : 0.8 * decode_ms_ + 0.2 * step_ms;
            return;
        }
        const double each_ms = std::max(0.0, step_ms - (n_decoding > 0 ? decode_ms_ : 0)) / n_prefill;
        // A few tokens cost a pass over the weights, which says nothing about a chunk, unless even they are quicker than was
        // thought: who takes chunks for slow takes small ones, and would never find out.
        if (n_prefill < kTile && cost_.is_known() && each_ms >= cost_.ms_per_token(depth)) return;
        cost_.observe(each_ms, depth);
    }

  private:
    static constexpr double kLeast = 16;
    // For a new arrival, where nobody decodes: a long prompt is done 3 % sooner than with steps of 80 ms.
    static constexpr double kAloneMs = 120;
    static constexpr double kQuantumMs = 80;  // in a burst: a pass for those who decode costs all who wait
    // In a crowd those who decode are held up by this much in each step at least, and other contexts at most.
    static constexpr double kCrowdMs = 40;
    // What is left takes a few steps: those who decode are soon rid of it.
    static constexpr double kBriefMs = 150;
    // Longer prompts than this together are no burst.
    static constexpr double kBurstMs = 2000;
    // Longest tile that is worth it, and where attention is what takes long, so that fewer rows take nearly as long.
    static constexpr double kTileMs = 45;
    static constexpr double kDeepTileMs = 100;

    double most_ms(uint32_t n_decoding, const Prompts & prompts, double each_ms, bool hurries) const {
        if (n_decoding == 0) return prompts.has_company ? kCrowdMs : kAloneMs;
        // A hair more than a tile, so that division gives it back.
        const double tile_ms = (kTile + 0.5) * each_ms;
        const double most_tile_ms = cost_.is_deep(static_cast<double>(prompts.depth)) ? kDeepTileMs : kTileMs;
        const double efficient_ms = std::min((kEfficient + 0.5) * each_ms, prompts.has_company ? kCrowdMs : kQuantumMs);
        const double calm_ms = std::max(decode_ms_, tile_ms <= most_tile_ms ? std::max(tile_ms, efficient_ms) : 0);
        if (burst_) return std::max(calm_ms, kQuantumMs);
        return hurries ? std::max(calm_ms, kCrowdMs) : calm_ms;
    }

    uint32_t n_most_;
    bool burst_ = false;
    double decode_ms_ = 0;
    PrefillCost cost_;
};

}  // namespace svc
