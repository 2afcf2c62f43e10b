// Speculative decoding: what is drafted for a step, and what the step made of it.
//
// A step holds, for each speculating sequence, its next token and a few drafted ones, with logits for each. The request's own
// sampler draws from these rows in order and stops behind the first token that is not the drafted one. Every token is thus drawn
// from the logits that it would have been drawn from without drafts, by the same sampler in the same state.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../../scheduling/core_arbiter.h"
#include "../context/context_plan.h"
#include "../options/options.h"
#include "../queue/job.h"
#include "../speculative/draft_model.h"
#include "../speculative/draft_plan.h"
#include "../speculative/speculation_meter.h"
#include "engine_stats.h"

namespace svc {

class Speculation {
  public:
    // `draft_model` may be null. Throws StatusError draft_model_incompatible, unsupported or out_of_memory.
    Speculation(const EngineOptions & options, const ContextPlan & plan, uint32_t n_ctx_per_job, const Model & target,
                std::shared_ptr<Model> draft_model);

    // The engine thread calls it.
    void warm_up();
    // The draft model's cache and buffers take so much.
    MemoryUse memory() const;

    // Chooses the drafts of the decoding generations, which come in the order of their sequences, and adds them to n_planned.
    // `fills`: whether the batch will get a row for each sequence from the first up to the second.
    using Fills = std::function<bool(llama_seq_id, llama_seq_id)>;
    void plan(const std::vector<Generation *> & decoding, const Fills & fills, CoreArbiter::Member & compute);
    // No cells for a batch with drafts. True: the next steps try without them.
    bool drop();
    // So many of a generation's drafted tokens were right.
    void judge(Drafting & drafting, size_t n_accepted);
    // Feeds a step of decoding sequences alone that sampled n_tokens.
    void observe(uint32_t n_tokens, double ms);
    void publish(EngineStats & stats) const;

  private:
    void choose_drafts(const std::vector<Generation *> & decoding, const Fills & fills);
    void drop_drafts(const std::vector<Generation *> & decoding);
    void collect_offers(const std::vector<Generation *> & decoding, const Fills & fills);
    DraftCandidate candidate_of(Generation & generation);
    uint32_t n_most_drafted(const Generation & generation) const;
    bool reads_along(Generation & generation);
    void run_model();

    uint32_t n_draft_max_;
    uint32_t n_ctx_per_job_;
    SpeculationMeter meter_;
    std::unique_ptr<DraftModel> model_;       // null: none
    std::vector<DraftCandidate> candidates_;  // of the decoding sequences in the step and of the gaps that will be filled
    std::vector<Generation *> drafting_for_;  // whose candidates these are; null: a gap
    double drafting_ms_ = 0;                  // in the step
    uint32_t n_undrafted_ = 0;                // next steps that draft nothing, because cells ran out
    uint32_t n_generations_ = 0;              // that began to decode
};

}  // namespace svc
