#include "draft_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

#include "../tuning/tuning.h"

namespace svc {

namespace {

double cost_of(const std::vector<DraftCandidate> & candidates, const DraftPrices & prices) {
    uint32_t n_rounds = 0;
    for (const auto & candidate : candidates) {
        if (candidate.from_model) n_rounds = std::max(n_rounds, candidate.n_chosen);
    }
    double ms = n_rounds * prices.ms_per_model_token;
    for (auto rows : passes_of(candidates, prices.passes)) ms += prices.cost.of(rows);
    return ms;
}

// Tokens that the slowest sequence can expect of the step.
double least_tokens(const std::vector<DraftCandidate> & candidates) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto & candidate : candidates) {
        if (candidate.is_padding) continue;
        const auto chosen = candidate.chances.begin() + candidate.n_chosen;
        least = std::min(least, std::accumulate(candidate.chances.begin(), chosen, 1.0));
    }
    return least;
}

}  // namespace

uint32_t n_sequences_of(const std::vector<DraftCandidate> & candidates) {
    return static_cast<uint32_t>(
        std::count_if(candidates.begin(), candidates.end(), [](const auto & candidate) { return !candidate.is_padding; }));
}

std::vector<uint32_t> passes_of(const std::vector<DraftCandidate> & candidates, Passes kind) {
    std::vector<uint32_t> left;
    uint32_t n_rows = 0;
    for (const auto & candidate : candidates) {
        left.push_back(1 + candidate.n_chosen);
        n_rows += left.back();
    }
    if (kind == Passes::One) return {n_rows};
    std::vector<uint32_t> passes;
    for (size_t begin = 0; begin < left.size();) {
        size_t end = begin;
        uint32_t least = left[begin];
        auto is_neighbour = [&] { return end == begin || candidates[end].sequence == candidates[end - 1].sequence + 1; };
        for (; end < left.size() && left[end] > 0 && is_neighbour(); end++) least = std::min(least, left[end]);
        passes.push_back(least * static_cast<uint32_t>(end - begin));
        for (size_t i = begin; i < end; i++) left[i] -= least;
        while (begin < left.size() && left[begin] == 0) begin++;
    }
    return passes;
}

uint32_t plan_drafts(std::vector<DraftCandidate> & candidates, const DraftPrices & prices, uint32_t n_most_rows) {
    // The next drafted token of each sequence by its chance, the best first.
    std::priority_queue<std::pair<double, size_t>> next;
    for (size_t i = 0; i < candidates.size(); i++) {
        candidates[i].n_chosen = 0;
        if (!candidates[i].chances.empty()) next.emplace(candidates[i].chances[0], i);
    }
    if (prices.plain_ms <= 0) return 0;

    std::vector<size_t> order;
    size_t n_best = 0;
    auto tokens = static_cast<double>(n_sequences_of(candidates));
    double best_rate = tokens / prices.plain_ms * kTuning.least_draft_gain;
    while (!next.empty() && order.size() < n_most_rows) {
        const auto [chance, i] = next.top();
        next.pop();
        order.push_back(i);
        tokens += chance;
        auto & candidate = candidates[i];
        candidate.n_chosen++;
        if (candidate.n_chosen < candidate.chances.size()) next.emplace(candidate.chances[candidate.n_chosen], i);
        const double ms = cost_of(candidates, prices);
        if (tokens / ms <= best_rate) continue;
        if (least_tokens(candidates) * prices.plain_ms < kTuning.least_neighbour_pace * ms) continue;
        best_rate = tokens / ms;
        n_best = order.size();
    }
    for (size_t n = n_best; n < order.size(); n++) candidates[order[n]].n_chosen--;
    return static_cast<uint32_t>(n_best);
}

}  // namespace svc
