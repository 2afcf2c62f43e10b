// prefill-test cost ROW_MS SLOPE_MS DEPTH...: what the fit says of each depth, after chunks of a made-up machine.
// prefill-test budget N_DECODING N_PROMPTS TOKENS_EACH DEPTH QUEUED: prompt tokens of each step until all prompts are done,
//   and of the first step for one that comes later. A row costs 0.2 ms and 0.0001 ms for each token in front of it, a step
//   that decodes 5 ms.
// prefill-test disturbed FACTOR N_STEPS: prompt tokens of each step beside streams, after steps that took so many times as long.
#include "../prefill_budget.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int show_cost(double row_ms, double slope_ms, int count, char ** depths) {
    svc::PrefillCost cost;
    for (int depth = 0; depth <= 4000; depth += 100) {
        const double noise = depth % 200 == 0 ? 1.05 : 0.95;
        cost.observe((row_ms + slope_ms * depth) * noise, depth);
    }
    for (int i = 0; i < count; i++) std::printf("%.4f\n", cost.ms_per_token(std::atof(depths[i])));
    return 0;
}

constexpr double kDecodeMs = 5;

double row_ms(double depth) { return 0.2 + 0.0001 * depth; }

svc::PrefillBudget settled_budget() {
    svc::PrefillBudget budget(512);
    for (int i = 0; i < 20; i++) {
        budget.observe(128 * row_ms(200.0 * i), 0, 128, 200.0 * i);
        budget.observe(kDecodeMs, 1, 0, 0);
    }
    return budget;
}

int show_disturbed(double factor, int n_steps) {
    auto budget = settled_budget();
    const svc::PrefillBudget::Prompts prompts{1, 4000, 0, false, false};
    for (int i = 0; i < 20; i++) budget.observe(kDecodeMs + 192 * row_ms(0) * factor, 4, 192, 0);
    for (int i = 0; i < n_steps; i++) {
        const auto n = budget.tokens(4, prompts);
        std::printf("%u\n", n);
        budget.observe(kDecodeMs + n * row_ms(0), 4, n, 0);
    }
    return 0;
}

int show_steps(uint32_t n_decoding, size_t n_prompts, size_t n_each, size_t depth, bool queued) {
    auto budget = settled_budget();
    size_t n_left = n_prompts * n_each;
    while (n_left > 0) {
        const size_t n_waiting = (n_left + n_each - 1) / n_each;
        const auto room = budget.tokens(n_decoding, {n_waiting, n_left, depth, queued, false});
        const size_t n = n_left < room ? n_left : room;
        std::printf("%zu\n", n);
        n_left -= n;
        // Those whose prompts are done decode.
        n_decoding += static_cast<uint32_t>(n_waiting - (n_left + n_each - 1) / n_each);
    }
    budget.end_burst();
    std::printf("%u\n", budget.tokens(n_decoding, {1, n_each, depth, false, false}));
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc > 4 && std::strcmp(argv[1], "cost") == 0)
        return show_cost(std::atof(argv[2]), std::atof(argv[3]), argc - 4, argv + 4);
    if (argc == 7 && std::strcmp(argv[1], "budget") == 0) {
        auto number = [&](int i) { return static_cast<size_t>(std::atoi(argv[i])); };
        return show_steps(static_cast<uint32_t>(number(2)), number(3), number(4), number(5), number(6) > 0);
    }
    if (argc == 4 && std::strcmp(argv[1], "disturbed") == 0) return show_disturbed(std::atof(argv[2]), std::atoi(argv[3]));
    std::fprintf(stderr,
                 "prefill-test cost ROW_MS SLOPE_MS DEPTH... | budget N_DECODING N_PROMPTS TOKENS_EACH DEPTH QUEUED | "
                 "disturbed FACTOR N_STEPS\n");
    return 2;
}
