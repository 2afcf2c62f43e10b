#include "simulated_service.h"

#include <algorithm>
#include <deque>

#include "../tuning/tuning.h"

namespace svc::simulation {

namespace {

constexpr uint32_t kPhysical = 512;
// Steps after which estimates have to be right again.
constexpr int kSettling = 20;
constexpr double kSurprise = 1.5;

struct Running {
    size_t n_left;
    size_t depth;
    size_t n_answer;
    double evaluated_before;
};

// Whole tiles beside streams, as the planner's are.
PrefillPlan fixed_plan(const std::vector<PromptAhead> & prompts, const StepLoad & load, uint32_t chunk) {
    PrefillPlan plan;
    if (load.n_rows > 0) chunk = !load.is_kv_unified ? chunk + 1 : chunk > 2 * load.n_rows ? chunk - load.n_rows : chunk;
    for (const auto & prompt : prompts) {
        const auto n = static_cast<uint32_t>(std::min<size_t>(chunk, prompt.n_left));
        plan.n_tokens.push_back(n);
        chunk -= n;
    }
    return plan;
}

StepLoad load_of(uint32_t n_decoding, bool is_kv_unified) {
    StepLoad load;
    load.n_decoding = load.n_rows = n_decoding;
    load.n_free_rows = 2048 - n_decoding;
    load.n_physical = kPhysical;
    load.is_kv_unified = is_kv_unified;
    return load;
}

}  // namespace

StepEstimates settled_estimates(const Machine & machine) {
    StepEstimates estimates;
    for (int i = 0; i < 60; i++) {
        const double depth = 200.0 * (i % 30);
        estimates.observe({machine.step_ms(0, 128, depth), 0, 128, depth});
        estimates.observe({machine.step_ms(2, 0, 0), 2, 0, 0});
    }
    return estimates;
}

SimulatedLoad random_load(Random & random, const Machine & machine) {
    SimulatedLoad load;
    load.n_parallel = static_cast<size_t>(random.scale(1, 32.99));
    const auto n_jobs = static_cast<size_t>(random.scale(1, 60));
    const double unit_ms = machine.row_ms * random.scale(10, 20000);
    double at_ms = 0;
    for (size_t i = 0; i < n_jobs; i++) {
        load.jobs.push_back({at_ms, static_cast<size_t>(random.scale(8, 16000)), static_cast<size_t>(random.scale(1, 400))});
        if (random.chance(0.6)) at_ms += unit_ms * random.between(0, 2);
    }
    return load;
}

Outcome run(const Machine & machine, const SimulatedLoad & load, uint32_t chunk, Random random) {
    auto estimates = settled_estimates(machine);
    Outcome outcome;
    std::vector<Running> running;
    size_t next = 0;
    bool in_burst = false;
    double evaluated = 0;
    int n_calm = 0;  // steps since the last surprise
    bool has_changed = false;
    while (next < load.jobs.size() || !running.empty()) {
        if (running.empty() && load.jobs[next].at_ms > outcome.ms) outcome.ms = load.jobs[next].at_ms;
        for (; next < load.jobs.size() && load.jobs[next].at_ms <= outcome.ms && running.size() < load.n_parallel; next++)
            running.push_back({load.jobs[next].n_prompt, 0, load.jobs[next].n_answer, evaluated});
        std::vector<PromptAhead> prompts;
        std::vector<size_t> whose;
        uint32_t n_decoding = 0;
        for (size_t i = 0; i < running.size(); i++) {
            if (running[i].n_left == 0) {
                n_decoding++;
                continue;
            }
            prompts.push_back({running[i].n_left, running[i].depth, evaluated - running[i].evaluated_before, 0});
            whose.push_back(i);
        }
        std::vector<PromptAhead> ranked;
        std::vector<size_t> owners;
        for (auto i : rank_prompts(prompts)) {
            ranked.push_back(prompts[i]);
            owners.push_back(whose[i]);
        }
        auto step = load_of(n_decoding, machine.is_kv_unified);
        step.in_burst = in_burst;
        const auto plan = chunk > 0 ? fixed_plan(ranked, step, chunk) : plan_prefill(ranked, step, estimates);
        in_burst = plan.in_burst;
        uint32_t n_prefill = 0;
        double depth = 0;
        for (size_t i = 0; i < ranked.size(); i++) {
            n_prefill += plan.n_tokens[i];
            depth += plan.n_tokens[i] * (static_cast<double>(ranked[i].depth) + plan.n_tokens[i] / 2.0);
        }
        if (n_prefill > 0) depth /= n_prefill;
        const double ms = machine.step_ms(n_decoding, n_prefill, depth, outcome.ms);
        double noisy_ms = ms * std::exp(machine.noise * random.normal());
        const bool is_outlier = random.chance(machine.outliers);
        if (is_outlier) noisy_ms *= random.between(3, 30);
        const bool changes = !has_changed && machine.change_at_ms > 0 && outcome.ms > machine.change_at_ms;
        has_changed = has_changed || changes;
        n_calm = is_outlier || changes ? 0 : n_calm + 1;
        if (n_decoding > 0 && n_prefill > 0) {
            const double decode_ms = machine.step_ms(n_decoding, 0, 0, outcome.ms);
            const double tile_ms = machine.step_ms(n_decoding, kTuning.tile_rows, depth, outcome.ms) - decode_ms;
            // Estimates err by the noise that they are made from.
            const double gap = ms / (gap_bound_ms(decode_ms, tile_ms) * (chunk > 0 ? 1 : 1 + 2 * machine.noise));
            outcome.n_over += gap > 1;
            if (n_calm > kSettling || chunk > 0) outcome.worst_gap = std::max(outcome.worst_gap, gap);
        }
        estimates.observe({noisy_ms, n_decoding, n_prefill, depth});
        outcome.ms += ms;
        outcome.n_steps++;
        for (auto & one : running) {
            if (one.n_left == 0) one.n_answer--;
        }
        for (size_t i = 0; i < owners.size(); i++) {
            running[owners[i]].n_left -= plan.n_tokens[i];
            running[owners[i]].depth += plan.n_tokens[i];
        }
        evaluated += n_prefill;
        running.erase(
            std::remove_if(running.begin(), running.end(), [](const auto & one) { return one.n_left == 0 && one.n_answer == 0; }),
            running.end());
    }
    return outcome;
}

Recovery recover(const Machine & machine, const Machine & believed, uint32_t n_decoding, size_t depth) {
    constexpr int kMeasured = 128;
    auto load = load_of(n_decoding, machine.is_kv_unified);
    const double decode_ms = machine.step_ms(n_decoding, 0, 0);
    const double at = static_cast<double>(depth);
    const double bound_ms = gap_bound_ms(decode_ms, machine.step_ms(n_decoding, kTuning.tile_rows, at) - decode_ms);
    double worst_gap = 0;
    // Milliseconds for each token of an endless prompt.
    auto run_steps = [&](StepEstimates & estimates, const Machine & truth, int n_steps) {
        double ms = 0;
        double n_tokens = 0;
        worst_gap = 0;
        for (int i = 0; i < n_steps; i++) {
            const auto plan = plan_prefill({{1000000, depth, 0, 0}}, load, estimates);
            const uint32_t n = plan.n_tokens[0];
            const double step_ms = truth.step_ms(n_decoding, n, at);
            estimates.observe({step_ms, n_decoding, n, at});
            ms += step_ms;
            n_tokens += n;
            if (n > 0) worst_gap = std::max(worst_gap, step_ms / bound_ms);
        }
        return ms / n_tokens;
    };
    StepEstimates knows;
    StepEstimates errs;
    run_steps(knows, machine, 400);
    run_steps(errs, believed, 400);
    const double baseline = run_steps(knows, machine, kMeasured);
    run_steps(errs, machine, kSettling);
    const double ratio = run_steps(errs, machine, kMeasured) / baseline;
    return {ratio, worst_gap};
}

double tokens_before_the_long_one(const Machine & machine, Random & random) {
    StepEstimates estimates;
    const auto n_long = static_cast<size_t>(random.scale(1000, 16000));
    struct Short {
        size_t n_left, depth;
        double evaluated_before;
    };
    std::deque<Short> shorts;
    size_t n_left = n_long;
    double evaluated = 0;
    while (n_left > 0 && evaluated < 100.0 * n_long) {
        // As many come as can be served, and one more.
        while (shorts.size() < 3) shorts.push_back({static_cast<size_t>(random.scale(16, 600)), 0, evaluated});
        std::vector<PromptAhead> prompts{{n_left, n_long - n_left, evaluated, 0}};
        for (const auto & one : shorts) prompts.push_back({one.n_left, one.depth, evaluated - one.evaluated_before, 0});
        const auto order = rank_prompts(prompts);
        std::vector<PromptAhead> ranked;
        for (auto i : order) ranked.push_back(prompts[i]);
        const auto plan = plan_prefill(ranked, load_of(2, machine.is_kv_unified), estimates);
        uint32_t n_all = 0;
        for (auto n : plan.n_tokens) n_all += n;
        estimates.observe({machine.step_ms(2, n_all, 500), 2, n_all, 500});
        for (size_t i = 0; i < order.size(); i++) {
            if (order[i] == 0) n_left -= plan.n_tokens[i];
            else shorts[order[i] - 1].n_left -= plan.n_tokens[i];
        }
        evaluated += n_all;
        shorts.erase(std::remove_if(shorts.begin(), shorts.end(), [](const auto & one) { return one.n_left == 0; }),
                     shorts.end());
    }
    return (evaluated - static_cast<double>(n_long)) / static_cast<double>(n_long);
}

}  // namespace svc::simulation
