// speculation-test ngrams SEED N: the index of repeated n-grams against a search of the whole text.
// speculation-test meter N_SEQUENCES ROW_MS HIT_RATE CLAIMED N_STEPS [RESHAPE_MS [N_SILENT [LATER_MS]]]: the meter against a
// made-up
//   machine, where a pass costs 1 ms and ROW_MS for each row, and RESHAPE_MS more where the step before had another number of
//   rows; drafted tokens hit with HIT_RATE, and the candidates claim CLAIMED. The last N_SILENT sequences have no drafts, and in
//   the second half a drafted row costs LATER_MS more.
// speculation-test passes SEQUENCE:ROWS...: how a step is cut into passes where each sequence has a buffer of its own.
// Prints `name value` lines; a broken promise ends it with status 1.
#include "../speculative/draft_plan.h"
#include "../speculative/ngram_index.h"
#include "../speculative/speculation_meter.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace {

std::mt19937 random_engine;

double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_engine); }

// Length of the n-gram, 4 down to 2, that ends the text and stood in it before; 0: none.
size_t longest_repeat(const std::vector<llama_token> & tokens) {
    for (size_t n = 4; n >= 2; n--) {
        for (size_t end = n; tokens.size() > n && end < tokens.size(); end++) {
            if (std::equal(tokens.end() - static_cast<std::ptrdiff_t>(n), tokens.end(),
                           tokens.begin() + static_cast<std::ptrdiff_t>(end - n)))
                return n;
        }
    }
    return 0;
}

int check_ngrams(uint32_t seed, size_t n_tokens) {
    random_engine.seed(seed);
    svc::NgramIndex index;
    std::vector<llama_token> tokens;
    size_t n_repeats = 0;
    size_t n_found = 0;
    while (tokens.size() < n_tokens) {
        // Some steps add several tokens at once.
        for (size_t i = 0; i <= random_engine() % 3; i++) tokens.push_back(static_cast<llama_token>(random_engine() % 12));
        index.follow(tokens);
        const size_t expected = longest_repeat(tokens);
        const auto match = index.find(tokens);
        n_repeats += expected > 0;
        n_found += match.next > 0;
        if (match.next == 0) continue;
        const auto length = static_cast<std::ptrdiff_t>(match.length);
        const auto next = tokens.begin() + static_cast<std::ptrdiff_t>(match.next);
        if (match.next >= tokens.size() || match.length < 2 || !std::equal(next - length, next, tokens.end() - length)) {
            std::printf("a match at %zu is none\n", match.next);
            return 1;
        }
    }
    std::printf("repeats %zu\nfound %zu\n", n_repeats, n_found);
    return 0;
}

struct Machine {
    uint32_t n_sequences = 1;
    double row_ms = 0;
    double hit_rate = 0;
    double claimed = 0;
    uint32_t n_steps = 0;
    double reshape_ms = 0;
    uint32_t n_silent = 0;
    double later_ms = 0;
};

int check_meter(const Machine & machine) {
    svc::SpeculationMeter meter(svc::SpeculationMode::Auto, svc::Passes::One, 128, 64);
    const uint32_t n_sequences = machine.n_sequences;
    double ms = 0;
    double n_tokens = 0;
    double n_drafted = 0;
    uint32_t n_rows_before = n_sequences;
    for (uint32_t step = 0; step < machine.n_steps; step++) {
        std::vector<svc::DraftCandidate> candidates(n_sequences);
        for (uint32_t i = 0; i < n_sequences; i++) {
            candidates[i].sequence = static_cast<int32_t>(i);
            double chance = 1;
            for (int k = 0; k < 16 && i + machine.n_silent < n_sequences; k++)
                candidates[i].chances.push_back(chance *= machine.claimed);
        }
        const uint32_t n_rows = meter.plan(candidates);
        uint32_t n_sampled = n_sequences;
        for (const auto & candidate : candidates) {
            for (uint32_t k = 0; k < candidate.n_chosen && uniform() < machine.hit_rate; k++) n_sampled++;
        }
        double step_ms = (1 + machine.row_ms * (n_sequences + n_rows)) * (0.95 + 0.1 * uniform());
        if (2 * step > machine.n_steps) step_ms += machine.later_ms * n_rows;
        if (n_sequences + n_rows != n_rows_before) step_ms += machine.reshape_ms;
        n_rows_before = n_sequences + n_rows;
        meter.observe(candidates, n_sampled, step_ms, 0);
        ms += step_ms;
        n_tokens += n_sampled;
        n_drafted += n_rows;
    }
    const double plain_ms = 1 + machine.row_ms * n_sequences;
    std::printf("speed %.4f\npace %.4f\ndrafted %.4f\n", n_tokens / ms * plain_ms / n_sequences, machine.n_steps * plain_ms / ms,
                n_drafted / machine.n_steps);
    return 0;
}

int show_passes(int count, char ** words) {
    std::vector<svc::DraftCandidate> candidates;
    for (int i = 0; i < count; i++) {
        char * rows = nullptr;
        auto & candidate = candidates.emplace_back();
        candidate.sequence = static_cast<int32_t>(std::strtol(words[i], &rows, 10));
        candidate.n_chosen = static_cast<uint32_t>(std::atoi(rows + 1)) - 1;
    }
    std::printf("passes");
    for (auto rows : svc::passes_of(candidates, svc::Passes::Equal)) std::printf(" %u", rows);
    std::printf("\n");
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc == 4 && std::strcmp(argv[1], "ngrams") == 0) {
        return check_ngrams(static_cast<uint32_t>(std::atoi(argv[2])), static_cast<size_t>(std::atoi(argv[3])));
    }
    if (argc >= 7 && std::strcmp(argv[1], "meter") == 0) {
        const auto number = [&](int i) { return i < argc ? std::atof(argv[i]) : 0; };
        const auto count = [&](int i) { return static_cast<uint32_t>(number(i)); };
        return check_meter({count(2), number(3), number(4), number(5), count(6), number(7), count(8), number(9)});
    }
    if (argc > 2 && std::strcmp(argv[1], "passes") == 0) return show_passes(argc - 2, argv + 2);
    std::fprintf(
        stderr,
        "speculation-test ngrams SEED N | meter N_SEQUENCES ROW_MS HIT_RATE CLAIMED N_STEPS [RESHAPE_MS [N_SILENT [LATER_MS]]]"
        " | passes SEQUENCE:ROWS...\n");
    return 2;
}
