#include "row_sampler.h"

#include <algorithm>
#include <functional>

#include "../../common/memory_wait.h"
#include "../sampling/logits.h"
#include "grammar_allowance.h"

namespace svc {

// Those whose grammars are quick come first.
std::vector<RowSampler::Rows> RowSampler::rows_of(const std::vector<Generation *> & in_step) const {
    std::vector<Rows> all;
    for (auto * generation : in_step) {
        if (generation->batch_index < 0) continue;
        auto & rows = all.emplace_back();
        rows.generation = generation;
        // llama.cpp puts its rows in order at the first of these calls: not for several threads.
        for (size_t i = 0; i <= generation->drafting.tokens.size(); i++)
            rows.logits.push_back(llama_get_logits_ith(context_, generation->batch_index + static_cast<int32_t>(i)));
    }
    std::stable_sort(all.begin(), all.end(), [](const Rows & a, const Rows & b) {
        return a.generation->expected_grammar_ms() < b.generation->expected_grammar_ms();
    });
    return all;
}

std::vector<RowSampler::Drawn> RowSampler::sample(const std::vector<Generation *> & in_step) {
    std::vector<Rows> all;
    std::vector<Drawn> drawn;
    std::function<void(size_t)> draw;
    GrammarAllowance allowance;
    {
        // The step is evaluated, and every sequence in it waits for its tokens.
        const MemoryWait wait;
        all = rows_of(in_step);
        for (const auto & rows : all) drawn.push_back({rows.generation, {}, {}});
        draw = [&](size_t i) {
            auto & own = drawn[i];
            own.status = catch_status([&] {
                const bool is_done = allowance.spend(*own.generation, [&] { sample(all[i], own.rows); });
                if (!is_done) own.late = all[i].logits[own.rows.size()];
            });
        };
    }
    pool_.run(all.size(), draw);
    return drawn;
}

// Draws from the rows in order for as long as the drafted tokens are those that are drawn.
void RowSampler::sample(const Rows & rows, std::vector<SampledRow> & sampled) const {
    const auto & drafted = rows.generation->drafting.tokens;
    for (size_t i = 0; i < rows.logits.size(); i++) {
        sampled.push_back(sample(*rows.generation, rows.logits[i]));
        const auto token = sampled.back().token;
        if (i < drafted.size() && (token != drafted[i] || llama_vocab_is_eog(model_.vocab(), token))) break;
    }
}

SampledRow RowSampler::sample(Generation & generation, const float * logits) const {
    if (!logits) throw StatusError("internal", "a decoded token has no logits");
    SampledRow row;
    row.token = generation.sampler->sample(logits);
    const int32_t n_top = generation.job->options.top_logprobs;
    if (n_top < 0 || llama_vocab_is_eog(model_.vocab(), row.token)) return row;
    row.logprobs.emplace();
    row.logprobs->chosen = {row.token, log_probability(logits, model_.n_vocab(), row.token, n_top, row.logprobs->top)};
    return row;
}

}  // namespace svc
