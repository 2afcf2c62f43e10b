// Draws tokens from the logits of a step, several generations side by side: none touches the context or another's sampler.
#pragma once

#include <vector>

#include "../../common/status.h"
#include "../compute/row_pool.h"
#include "../model/model.h"
#include "../queue/job.h"
#include "sampled_row.h"

namespace svc {

class RowSampler {
  public:
    // One generation has drawn its rows up to the first that is not as drafted. `status`: why it can draw no more. `late`: the
    // row behind them, whose grammar takes too long for a step; null otherwise.
    struct Drawn {
        Generation * generation;
        std::vector<SampledRow> rows;
        Status status;
        const float * late = nullptr;
    };

    RowSampler(const Model & model, llama_context * context, uint32_t n_threads)
        : model_(model), context_(context), pool_(n_threads) {}

    // Samples for those of the generations that have logits in the step.
    std::vector<Drawn> sample(const std::vector<Generation *> & in_step);
    // Chooses from logits[n_vocab]. Any thread may call it; throws GrammarLate when its GrammarBudget is spent.
    SampledRow sample(Generation & generation, const float * logits) const;

  private:
    struct Rows {
        Generation * generation;
        std::vector<const float *> logits;
    };

    std::vector<Rows> rows_of(const std::vector<Generation *> & in_step) const;
    void sample(const Rows & rows, std::vector<SampledRow> & sampled) const;

    const Model & model_;
    llama_context * context_;
    RowPool pool_;
};

}  // namespace svc
