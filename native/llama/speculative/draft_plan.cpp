#include "draft_plan.h"

#include <algorithm>
#include <queue>

#include "../tuning/tuning.h"

namespace svc {

namespace {

double cost_of(const std::vector<DraftOffer> & offers, const StepCost & cost, Passes kind, double ms_per_model_token) {
    uint32_t n_rounds = 0;
    for (const auto & offer : offers) {
        if (offer.from_model) n_rounds = std::max(n_rounds, offer.n_chosen);
    }
    double ms = n_rounds * ms_per_model_token;
    for (auto rows : passes_of(offers, kind)) ms += cost.of(rows);
    return ms;
}

}  // namespace

uint32_t n_sequences_of(const std::vector<DraftOffer> & offers) {
    return static_cast<uint32_t>(
        std::count_if(offers.begin(), offers.end(), [](const auto & offer) { return !offer.is_filler; }));
}

std::vector<uint32_t> passes_of(const std::vector<DraftOffer> & offers, Passes kind) {
    std::vector<uint32_t> left;
    uint32_t n_rows = 0;
    for (const auto & offer : offers) {
        left.push_back(1 + offer.n_chosen);
        n_rows += left.back();
    }
    if (kind == Passes::One) return {n_rows};
    std::vector<uint32_t> passes;
    for (size_t begin = 0; begin < left.size();) {
        size_t end = begin;
        uint32_t least = left[begin];
        auto is_neighbour = [&] { return end == begin || offers[end].sequence == offers[end - 1].sequence + 1; };
        for (; end < left.size() && left[end] > 0 && is_neighbour(); end++) least = std::min(least, left[end]);
        passes.push_back(least * static_cast<uint32_t>(end - begin));
        for (size_t i = begin; i < end; i++) left[i] -= least;
        while (begin < left.size() && left[begin] == 0) begin++;
    }
    return passes;
}

uint32_t plan_drafts(std::vector<DraftOffer> & offers, const StepCost & cost, Passes kind, uint32_t n_most_rows,
                     double ms_per_model_token) {
    // The next drafted token of each sequence by its chance, the best first.
    std::priority_queue<std::pair<double, size_t>> next;
    for (size_t i = 0; i < offers.size(); i++) {
        offers[i].n_chosen = 0;
        if (!offers[i].chances.empty()) next.emplace(offers[i].chances[0], i);
    }
    const double plain_ms = cost_of(offers, cost, kind, ms_per_model_token);
    if (plain_ms <= 0) return 0;

    std::vector<size_t> order;
    size_t n_best = 0;
    auto tokens = static_cast<double>(n_sequences_of(offers));
    double best_rate = tokens / plain_ms * kTuning.least_draft_gain;
    while (!next.empty() && order.size() < n_most_rows) {
        const auto [chance, i] = next.top();
        next.pop();
        order.push_back(i);
        tokens += chance;
        auto & offer = offers[i];
        offer.n_chosen++;
        if (offer.n_chosen < offer.chances.size()) next.emplace(offer.chances[offer.n_chosen], i);
        const double ms = cost_of(offers, cost, kind, ms_per_model_token);
        if (tokens / ms <= best_rate) continue;
        best_rate = tokens / ms;
        n_best = order.size();
    }
    for (size_t n = n_best; n < order.size(); n++) offers[order[n]].n_chosen--;
    return static_cast<uint32_t>(n_best);
}

}  // namespace svc
