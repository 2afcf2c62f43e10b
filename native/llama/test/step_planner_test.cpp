// The step planner against simulated machines. Prints `name value` lines.
// step-planner-test loads SEED N: random loads on random machines; how our plans compare with the best fixed chunk size.
// step-planner-test recovery SEED N: random false estimates; what they cost 20 steps later.
// step-planner-test starvation SEED N: a long prompt beside an endless row of short ones.
// step-planner-test chunks ROW_MS SLOPE_MS DECODE_MS N_DECODING N_PROMPTS N_LEFT DEPTH [contended|common|in_burst|drafted=N]...:
// what settled
//   estimates make of a load: tokens of the first prompt and of all.
// step-planner-test tiles ROW_MS N_DECODING N_STEPS: chunks where a row of a chunk below a tile takes three times as long.
// step-planner-test cost ROW_MS SLOPE_MS DEPTH...: what the estimates say of each depth.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "simulated_machine.h"
#include "simulated_service.h"

namespace {

using namespace svc;
using namespace svc::simulation;

constexpr uint32_t kChunks[] = {32, 64, 128, 192, 256, 384, 512};
constexpr int kLoadsEach = 8;

// Against the one chunk size that serves a machine best in several loads and keeps their gaps as short as ours are meant to be.
int check_loads(uint32_t seed, int n) {
    std::vector<double> ratios;
    double worst_gap = 0;
    double n_steps = 0;
    double n_over = 0;
    for (int i = 0; i < n; i++) {
        Random random(seed + static_cast<uint32_t>(i));
        const auto machine = random_machine(random);
        double ours_ms = 0;
        std::vector<double> fixed_ms(std::size(kChunks), 0.0);
        for (int k = 0; k < kLoadsEach; k++) {
            const auto load = random_load(random, machine);
            const auto ours = run(machine, load, 0, random.fork());
            ours_ms += ours.ms;
            n_steps += ours.n_steps;
            n_over += ours.n_over;
            worst_gap = std::max(worst_gap, ours.worst_gap);
            for (size_t c = 0; c < std::size(kChunks); c++) {
                const auto fixed = run(machine, load, kChunks[c], random.fork());
                fixed_ms[c] += fixed.worst_gap > 1 ? HUGE_VAL : fixed.ms;
            }
        }
        const auto best = std::min_element(fixed_ms.begin(), fixed_ms.end());
        if (!std::isfinite(*best)) continue;
        ratios.push_back(ours_ms / *best);
        if (ratios.back() > 1.05)
            std::printf("# seed %u: %s: %.0f ms, chunks of %u %.0f ms (%.3f)\n", seed + static_cast<uint32_t>(i),
                        machine.description().c_str(), ours_ms, kChunks[best - fixed_ms.begin()], *best, ratios.back());
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("compared %zu\nmedian %.4f\nworst %.4f\nslower %.4f\n", ratios.size(), ratios[ratios.size() / 2], ratios.back(),
                static_cast<double>(std::count_if(ratios.begin(), ratios.end(), [](double r) { return r > 1.05; })) /
                    static_cast<double>(ratios.size()));
    std::printf("worst_gap %.4f\nover_share %.6f\n", worst_gap, n_over / n_steps);
    return 0;
}

int check_recovery(uint32_t seed, int n) {
    Recovery worst{0, 0};
    for (int i = 0; i < n; i++) {
        Random random(seed + static_cast<uint32_t>(i));
        const auto machine = random_steady_machine(random);
        auto lie = machine;
        lie.decode_ms *= std::pow(10, random.between(-2, 2));
        lie.row_ms *= std::pow(10, random.between(-2, 2));
        lie.slope_ms *= std::pow(10, random.between(-2, 2));
        if (random.chance(0.2)) lie.flat_rows = lie.flat_rows > 0 ? 0 : 256;
        const auto n_decoding = static_cast<uint32_t>(random.between(1, 17));
        const auto recovery = recover(machine, lie, n_decoding, static_cast<size_t>(random.between(0, 8000)));
        if (recovery.cost > 1.1 || recovery.worst_gap > 1)
            std::printf("# seed %u: %s, believed to be %s: %.2f, gap %.2f\n", seed + static_cast<uint32_t>(i),
                        machine.description().c_str(), lie.description().c_str(), recovery.cost, recovery.worst_gap);
        worst.cost = std::max(worst.cost, recovery.cost);
        worst.worst_gap = std::max(worst.worst_gap, recovery.worst_gap);
    }
    std::printf("cost %.4f\nworst_gap %.4f\n", worst.cost, worst.worst_gap);
    return 0;
}

int check_starvation(uint32_t seed, int n) {
    double worst = 0;
    for (int i = 0; i < n; i++) {
        Random random(seed + static_cast<uint32_t>(i));
        const auto machine = random_steady_machine(random);
        worst = std::max(worst, tokens_before_the_long_one(machine, random));
    }
    std::printf("worst_wait %.3f\n", worst);
    return 0;
}

int show_chunks(int count, char ** words) {
    Machine machine;
    machine.row_ms = std::atof(words[0]);
    machine.slope_ms = std::atof(words[1]);
    machine.decode_ms = std::atof(words[2]);
    machine.token_ms = 0;
    StepLoad load;
    load.n_decoding = load.n_rows = static_cast<uint32_t>(std::atoi(words[3]));
    load.n_free_rows = 2048 - load.n_rows;
    load.n_physical = 512;
    std::vector<PromptAhead> prompts(static_cast<size_t>(std::atoi(words[4])));
    for (auto & prompt : prompts) {
        prompt.n_left = static_cast<size_t>(std::atoi(words[5]));
        prompt.depth = static_cast<size_t>(std::atoi(words[6]));
    }
    for (int i = 7; i < count; i++) {
        load.is_contended |= std::strcmp(words[i], "contended") == 0;
        load.is_kv_unified |= std::strcmp(words[i], "common") == 0;
        load.in_burst |= std::strcmp(words[i], "in_burst") == 0;
        if (std::strncmp(words[i], "drafted=", 8) == 0) load.n_rows += static_cast<uint32_t>(std::atoi(words[i] + 8));
    }
    StepEstimates estimates;
    for (int i = 0; i < 60; i++) {
        const double depth = 200.0 * (i % 30);
        estimates.observe({128 * (machine.row_ms + machine.slope_ms * depth), 0, 128, depth});
        estimates.observe({machine.decode_ms, 1, 0, 0});
    }
    const auto plan = plan_prefill(prompts, load, estimates);
    uint32_t n_all = 0;
    for (auto n : plan.n_tokens) n_all += n;
    std::printf("first %u\nall %u\nburst %d\n", plan.n_tokens.front(), n_all, plan.in_burst ? 1 : 0);
    return 0;
}

int show_tiles(double row_ms, uint32_t n_decoding, int n_steps) {
    Machine machine;
    machine.row_ms = row_ms;
    machine.slope_ms = 0;
    machine.untiled = 3;
    StepEstimates estimates;
    StepLoad load;
    load.n_decoding = load.n_rows = n_decoding;
    load.n_free_rows = 2048 - n_decoding;
    load.n_physical = 512;
    for (int i = 0; i < n_steps; i++) {
        const auto plan = plan_prefill({{100000, 0, 0, 0}}, load, estimates);
        const uint32_t n = plan.n_tokens[0];
        std::printf("%u\n", n);
        const double each_ms = row_ms * (n < 64 ? 3 : 1);
        estimates.observe({(n_decoding > 0 ? 5 : 0) + n * each_ms, n_decoding, n, 0});
    }
    return 0;
}

int show_cost(double row_ms, double slope_ms, int count, char ** depths) {
    StepEstimates estimates;
    for (int i = 0; i < 200; i++) {
        const int depth = 100 * (i % 40);
        const double noise = depth % 200 == 0 ? 1.05 : 0.95;
        estimates.observe({128 * (row_ms + slope_ms * depth) * noise, 0, 128, static_cast<double>(depth)});
    }
    for (int i = 0; i < count; i++) std::printf("%.4f\n", estimates.row_ms(std::atof(depths[i])));
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    auto number = [&](int i) { return static_cast<uint32_t>(std::atoi(argv[i])); };
    if (mode == "loads" && argc == 4) return check_loads(number(2), std::atoi(argv[3]));
    if (mode == "recovery" && argc == 4) return check_recovery(number(2), std::atoi(argv[3]));
    if (mode == "starvation" && argc == 4) return check_starvation(number(2), std::atoi(argv[3]));
    if (mode == "chunks" && argc >= 9) return show_chunks(argc - 2, argv + 2);
    if (mode == "tiles" && argc == 5) return show_tiles(std::atof(argv[2]), number(3), std::atoi(argv[4]));
    if (mode == "cost" && argc > 4) return show_cost(std::atof(argv[2]), std::atof(argv[3]), argc - 4, argv + 4);
    std::fprintf(stderr, "the modes stand at the head of step_planner_test.cpp\n");
    return 2;
}
