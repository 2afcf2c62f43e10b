// A second, smaller model that guesses what the first will say: greedy, all drafting sequences in one batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../context/batch.h"
#include "../context/context.h"
#include "../context/context_plan.h"
#include "../model/memory_use.h"
#include "../model/model.h"

namespace svc {

class DraftModel {
  public:
    // Throws StatusError draft_model_incompatible, unsupported or out_of_memory.
    DraftModel(std::shared_ptr<Model> model, const Model & target, const EngineOptions & options, const ContextPlan & plan);

    struct DraftRequest {
        llama_seq_id sequence;
        const std::vector<llama_token> * tokens;
        uint32_t n_most;
        double least_confidence;         // the draft ends where the model itself gives it less
        std::vector<llama_token> draft;  // filled by draft()
    };

    // The thread that will draft calls it.
    void warm_up();
    // A step begins: its share of catching up is not spent yet.
    void begin_step();
    // Whether draft() can go on from here. Otherwise evaluates a part of what is missing; false means ask again next step. What
    // was held under another key (tenant and adapters) is of no use to this one.
    bool catch_up(llama_seq_id sequence, const std::string & key, const std::vector<llama_token> & tokens);
    // Fills the drafts of sequences that have caught up. Returns how many rounds it took.
    uint32_t draft(std::vector<DraftRequest> & requests);

    // KV cache and buffers.
    MemoryUse memory() const;

  private:
    class ForgetOnThrow;

    // One sequence has it.
    struct Held {
        std::string key;
        std::vector<llama_token> tokens;  // in its cache
    };

    void take_over(llama_seq_id sequence, const std::string & key);
    size_t align(llama_seq_id sequence, const std::vector<llama_token> & tokens);
    void add(llama_seq_id sequence, llama_token token, bool wants_logits);
    bool decode();
    void forget();
    bool fits(const std::vector<llama_token> & tokens, size_t n_more) const;

    std::shared_ptr<Model> model_;
    ContextPtr context_;
    Batch batch_;
    size_t n_most_tokens_;
    size_t n_catch_up_left_ = 0;  // tokens in this step
    llama_token n_shared_vocab_;
    std::vector<Held> held_;  // by sequence
};

// Throws StatusError draft_model_incompatible with what differs, when ids do not mean the same in both vocabularies.
void require_same_vocabulary(const Model & draft, const Model & target);

}  // namespace svc
