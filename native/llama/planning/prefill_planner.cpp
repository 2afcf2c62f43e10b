#include "prefill_planner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../tuning/tuning.h"

namespace svc {

namespace {

double rank_of(const PromptAhead & prompt) {
    return static_cast<double>(prompt.n_left) - kTuning.ageing * prompt.n_waited + kTuning.sibling_tokens * prompt.n_siblings;
}

bool is_burst(size_t n_prompts, double n_tokens, const StepLoad & load) {
    // More prompts than sequences that decode are a burst, until the last of them is done.
    return (load.in_burst || n_prompts > load.n_decoding) && n_tokens <= kTuning.burst_batches * load.n_physical;
}

// How long those who wait may be held up.
double most_ms(double decode_ms, double row_ms, bool in_burst, const StepLoad & load) {
    if (load.n_decoding == 0 || load.is_contended) return kTuning.short_gap_ms;
    // Twice as long as without prompts is never too long.
    return std::max(decode_ms, in_burst ? kTuning.long_gap_ms
                                        : std::clamp(kTuning.efficient_rows * row_ms, kTuning.short_gap_ms, kTuning.long_gap_ms));
}

// What fits into a physical batch with those that decode.
uint32_t most_rows(const StepLoad & load) {
    return std::min(load.n_physical - std::min(load.n_rows, load.n_physical / 2), load.n_free_rows);
}

uint32_t whole_tiles(double n_rows, uint32_t n_most) {
    const double n_tiles = std::round(std::min(n_rows, static_cast<double>(n_most)) / kTuning.tile_rows);
    const uint32_t n_fitting = std::max(1u, n_most / kTuning.tile_rows);
    return std::clamp(static_cast<uint32_t>(n_tiles), 1u, n_fitting) * kTuning.tile_rows;
}

// Another size, that estimates are held against: more, as far as the bound allows, or less.
uint32_t varied(uint32_t capacity, double n_rows, uint32_t n_most) {
    const uint32_t more =
        static_cast<uint32_t>(std::min<double>(n_most, n_rows * kTuning.chunk_excess)) / kTuning.tile_rows * kTuning.tile_rows;
    return more > capacity ? more : std::max(kTuning.tile_rows, capacity * 2 / 3 / kTuning.tile_rows * kTuning.tile_rows);
}

// Beside other rows, llama.cpp's passes take one token of a prompt along with those, or in unified KV all of the chunk.
uint32_t fit_tiles(uint32_t capacity, const StepLoad & load) {
    if (load.n_rows == 0) return capacity;
    if (!load.is_kv_unified) return capacity + 1;
    const uint32_t n_beside = load.n_rows % kTuning.tile_rows;
    return capacity - n_beside < kTuning.tile_rows / 2 ? capacity - n_beside + kTuning.tile_rows : capacity - n_beside;
}

// What a step may take of prompts, in rows as costly as the first prompt's.
struct PrefillCapacity {
    uint32_t n_rows;
    // A chunk that ends a prompt may grow up to here.
    uint32_t n_most;
};

PrefillCapacity prefill_capacity(const PromptAhead & first, const StepLoad & load, const StepEstimates & estimates,
                                 bool in_burst) {
    const uint32_t n_most = most_rows(load);
    if (load.n_decoding == 0 && !load.is_contended) return {n_most, n_most};
    if (load.n_decoding > 0 && estimates.is_probe_due()) return {0, 0};
    uint32_t capacity = kTuning.tile_rows;
    double n_allowed = kTuning.tile_rows;
    if (estimates.is_known()) {
        const double row_ms = estimates.row_ms(static_cast<double>(first.depth));
        n_allowed = most_ms(estimates.decode_ms(), row_ms, in_burst, load) / row_ms;
        capacity = whole_tiles(n_allowed, n_most);
        if (estimates.is_variation_due()) capacity = varied(capacity, n_allowed, n_most);
    }
    // Drafted rows take the place of prompt tokens.
    const uint32_t n_drafted = load.n_rows - load.n_decoding;
    capacity = std::max(kTuning.tile_rows, capacity - std::min(capacity, n_drafted / kTuning.tile_rows * kTuning.tile_rows));
    capacity = std::min(fit_tiles(capacity, load), n_most);
    const double n_bound = std::min<double>(n_most, kTuning.chunk_excess * std::max<double>(kTuning.tile_rows, n_allowed));
    return {capacity, std::max(capacity, static_cast<uint32_t>(n_bound))};
}

// What the first prompts of the order get of the step's room.
void share_capacity(PrefillCapacity capacity, const std::vector<PromptAhead> & prompts, const StepLoad & load,
                    const StepEstimates & estimates, PrefillPlan & plan) {
    const auto row_ms = [&](const PromptAhead & prompt) { return estimates.row_ms(static_cast<double>(prompt.depth)); };
    const bool lets_go_ahead = load.n_decoding == 0 && prompts.back().n_left > kTuning.go_ahead_tokens;
    double n_left_rows = capacity.n_rows;
    double n_most_rows = capacity.n_most;
    for (size_t i = 0; i < prompts.size(); i++) {
        const auto & prompt = prompts[i];
        // Rows of deeper prompts take the place of several.
        const double weight = estimates.is_known() ? std::max(1.0, row_ms(prompt) / row_ms(prompts.front())) : 1;
        auto n_share = static_cast<uint32_t>(n_left_rows / weight);
        const bool may_grow = i == 0 && n_share < kTuning.efficient_rows;
        const uint32_t tail = may_grow ? std::max(kTuning.tail_rows, n_share / 2) : kTuning.tail_rows;
        const auto n_grown = std::min(n_share + tail, static_cast<uint32_t>(n_most_rows / weight));
        if (prompt.n_left > n_share && prompt.n_left <= n_grown) n_share = n_grown;
        const bool ends = prompt.n_left <= n_share;
        // Less than a tile of a prompt is not worth a pass, unless it is all that there is room for.
        if (!ends && n_share < kTuning.tile_rows && i > 0) return;
        const auto n = static_cast<uint32_t>(std::min<size_t>(prompt.n_left, n_share));
        plan.n_tokens[i] = n;
        n_left_rows = std::max(0.0, n_left_rows - n * weight);
        n_most_rows = std::max(0.0, n_most_rows - n * weight);
        // An answer begins after this step: those whose prompts go on do not make it wait for long.
        if (ends && lets_go_ahead) n_left_rows = std::min<double>(n_left_rows, kTuning.tile_rows);
    }
}

}  // namespace

std::vector<size_t> rank_prompts(const std::vector<PromptAhead> & prompts) {
    std::vector<size_t> order(prompts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank_of(prompts[a]) < rank_of(prompts[b]); });
    return order;
}

PrefillPlan plan_prefill(const std::vector<PromptAhead> & prompts, const StepLoad & load, const StepEstimates & estimates) {
    PrefillPlan plan;
    plan.n_tokens.assign(prompts.size(), 0);
    if (prompts.empty()) return plan;
    double n_tokens = 0;
    for (const auto & prompt : prompts) n_tokens += static_cast<double>(prompt.n_left);
    plan.in_burst = is_burst(prompts.size(), n_tokens, load);
    const auto capacity = prefill_capacity(prompts.front(), load, estimates, plan.in_burst);
    if (capacity.n_rows > 0) share_capacity(capacity, prompts, load, estimates, plan);
    return plan;
}

double gap_bound_ms(double decode_ms, double tile_ms) {
    return decode_ms + std::max({tile_ms, kTuning.long_gap_ms, decode_ms}) * kTuning.chunk_excess * kTuning.estimate_error;
}

}  // namespace svc
