#include "step_planner.h"

#include <algorithm>

namespace svc {

namespace {

// The first that has to show that it can be evaluated.
const StepCandidate * find_suspect(const std::vector<StepCandidate> & candidates) {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [](const auto & one) { return one.is_suspect; });
    return found == candidates.end() ? nullptr : &*found;
}

const StepCandidate & longest_waiting(const std::vector<StepCandidate> & candidates) {
    return *std::min_element(candidates.begin(), candidates.end(),
                             [](const auto & a, const auto & b) { return a.last_turn < b.last_turn; });
}

StepLoad load_of(const StepState & state, const StepPlan & plan) {
    StepLoad load;
    load.n_decoding = static_cast<uint32_t>(plan.rows.size());
    for (const auto & planned : plan.rows) load.n_rows += planned.n_rows;
    load.n_free_rows = state.n_batch_rows - load.n_rows;
    load.n_physical = state.n_physical_rows;
    load.is_contended = state.is_contended;
    load.is_kv_unified = state.is_unified;
    load.in_burst = state.in_burst;
    return load;
}

void add_prompts(const StepState & state, const StepTurn & turn, const StepEstimates & estimates, StepPlan & plan) {
    std::vector<PromptAhead> ahead;
    for (const size_t i : turn.prefilling) ahead.push_back(state.candidates[i].prompt);
    const auto order = rank_prompts(ahead);
    std::vector<PromptAhead> ranked;
    for (const size_t i : order) ranked.push_back(ahead[i]);
    const auto prefill = plan_prefill(ranked, load_of(state, plan), estimates);
    plan.in_burst = prefill.in_burst;
    for (size_t i = 0; i < order.size(); i++) {
        if (prefill.n_tokens[i] > 0) plan.rows.push_back({turn.prefilling[order[i]], prefill.n_tokens[i], 0});
    }
}

// With a KV buffer for each sequence, llama.cpp evaluates a run of consecutive ids in one pass, and every further run in a pass
// of its own that reads all weights again. A row that nobody asked for costs less than a pass: it closes the gap and is forgotten
// after the step.
void add_padding(const StepState & state, const IsFilled & is_filled, StepPlan & plan) {
    uint32_t n_spare = state.n_batch_rows;
    for (const auto & planned : plan.rows) n_spare -= planned.n_rows;
    for (size_t i = 1; i < plan.rows.size(); i++) {
        const auto from = state.candidates[plan.rows[i - 1].candidate].sequence + 1;
        const auto to = state.candidates[plan.rows[i].candidate].sequence;
        const auto n_rows = static_cast<uint32_t>(to - from);
        if (n_rows == 0 || n_rows > n_spare || !is_filled(from, to)) continue;
        plan.rows[i].n_padding = n_rows;
        n_spare -= n_rows;
    }
}

}  // namespace

StepTurn choose_turn(const StepState & state) {
    StepTurn turn;
    const auto & all = state.candidates;
    if (all.empty()) return turn;
    turn.is_empty = false;
    const auto * suspect = find_suspect(all);
    turn.adapters = suspect ? suspect->adapters : longest_waiting(all).adapters;
    for (size_t i = 0; i < all.size(); i++) {
        const auto & candidate = all[i];
        if (candidate.adapters != turn.adapters || (suspect && &candidate != suspect)) continue;
        if (candidate.is_at_image && !turn.image_instead) turn.image_instead = i;
        if (candidate.is_prefilling) turn.prefilling.push_back(i);
        else if (turn.decoding.size() < state.n_batch_rows) turn.decoding.push_back(i);
    }
    if (!state.was_image) turn.image = turn.image_instead;
    std::sort(turn.decoding.begin(), turn.decoding.end(), [&](size_t a, size_t b) { return all[a].sequence < all[b].sequence; });
    return turn;
}

StepPlan plan_step(const StepState & state, const StepTurn & turn, const std::vector<uint32_t> & n_decoding_rows,
                   const StepEstimates & estimates, const IsFilled & is_filled) {
    StepPlan plan;
    for (size_t i = 0; i < turn.decoding.size(); i++) plan.rows.push_back({turn.decoding[i], n_decoding_rows[i], 0});
    add_prompts(state, turn, estimates, plan);
    std::sort(plan.rows.begin(), plan.rows.end(), [&](const PlannedRows & a, const PlannedRows & b) {
        return state.candidates[a.candidate].sequence < state.candidates[b.candidate].sequence;
    });
    add_padding(state, is_filled, plan);
    return plan;
}

}  // namespace svc
