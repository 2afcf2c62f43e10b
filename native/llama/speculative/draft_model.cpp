#include "draft_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "../../common/status.h"
#include "../model/backend.h"
#include "../sampling/logits.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

// Vocabularies of one family are padded to different sizes.
constexpr int32_t kPadding = 256;

StatusError incompatible(const std::string & what) {
    return StatusError("draft_model_incompatible", "the draft model's vocabulary differs from the model's: " + what +
                                                       "; use a draft model of the same family");
}

std::string quoted(const char * text) { return std::string("'") + text + "'"; }

llama_context_params params_of(const Model & model, EngineOptions options, const ContextPlan & target) {
    options.n_ctx = target.params.n_ctx;
    options.kv_unified = target.params.kv_unified;
    options.n_batch = 512;
    // How the target's positions are stretched says nothing about this model's.
    const EngineOptions own;
    options.rope_scaling = own.rope_scaling;
    options.rope_freq_base = own.rope_freq_base;
    options.rope_freq_scale = own.rope_freq_scale;
    options.yarn_orig_ctx = own.yarn_orig_ctx;
    auto plan = plan_generation(model, options);
    if (plan.sharing == Sharing::None)
        throw StatusError("unsupported", "a draft model must be able to take tokens back, and one with recurrent state is not");
    plan.params.n_seq_max = target.n_sequences;
    plan.params.n_outputs_max = target.n_sequences;
    return plan.params;
}

}  // namespace

void require_same_vocabulary(const Model & draft, const Model & target) {
    const auto * a = draft.vocab();
    const auto * b = target.vocab();
    if (llama_vocab_type(a) != llama_vocab_type(b)) throw incompatible("the tokenizers are of different kinds");
    if (std::abs(draft.n_vocab() - target.n_vocab()) > kPadding) {
        throw incompatible(std::to_string(draft.n_vocab()) + " tokens against " + std::to_string(target.n_vocab()));
    }
    if (llama_vocab_bos(a) != llama_vocab_bos(b) || llama_vocab_eos(a) != llama_vocab_eos(b))
        throw incompatible("other tokens begin or end a text");
    for (llama_token token = 0; token < std::min(draft.n_vocab(), target.n_vocab()); token++) {
        const char * mine = llama_vocab_get_text(a, token);
        const char * theirs = llama_vocab_get_text(b, token);
        if (std::strcmp(mine, theirs) != 0)
            throw incompatible("token " + std::to_string(token) + " is " + quoted(mine) + " against " + quoted(theirs));
    }
}

// What is thrown in the middle leaves tokens that are held and were not decoded.
class DraftModel::ForgetOnThrow {
  public:
    explicit ForgetOnThrow(DraftModel & of) : of_(of) {}
    ~ForgetOnThrow() {
        if (std::uncaught_exceptions() > n_before_) of_.forget();
    }
    ForgetOnThrow(const ForgetOnThrow &) = delete;
    ForgetOnThrow & operator=(const ForgetOnThrow &) = delete;

  private:
    DraftModel & of_;
    int n_before_ = std::uncaught_exceptions();
};

DraftModel::DraftModel(std::shared_ptr<Model> model, const Model & target, const EngineOptions & options,
                       const ContextPlan & plan)
    : model_(std::move(model)), batch_(512), held_(plan.n_sequences) {
    require_same_vocabulary(*model_, target);
    n_shared_vocab_ = std::min(model_->n_vocab(), target.n_vocab());
    context_ = create_context(*model_, params_of(*model_, options, plan));
    n_most_tokens_ =
        std::min<size_t>(llama_n_ctx_seq(context_.get()), static_cast<size_t>(llama_model_n_ctx_train(model_->raw())));
}

void DraftModel::warm_up() { svc::warm_up(*model_, context_.get(), batch_); }

MemoryUse DraftModel::memory() const { return memory_of(context_.get(), static_cast<uint32_t>(held_.size())); }

void DraftModel::begin_step() { n_catch_up_left_ = kTuning.draft_catch_up_tokens; }

bool DraftModel::catch_up(llama_seq_id sequence, const std::string & key, const std::vector<llama_token> & tokens) {
    const ForgetOnThrow guard(*this);
    if (!fits(tokens, 1)) return false;
    take_over(sequence, key);
    const size_t n_missing = tokens.size() - align(sequence, tokens);
    if (n_missing <= kTuning.draft_few_tokens) return true;
    if (n_catch_up_left_ == 0) return false;
    batch_.clear();
    const auto & held = held_[static_cast<size_t>(sequence)].tokens;
    const size_t end = std::min(tokens.size() - 1, held.size() + n_catch_up_left_);
    n_catch_up_left_ -= end - held.size();
    for (size_t i = held.size(); i < end; i++) add(sequence, tokens[i], false);
    decode();
    return false;
}

uint32_t DraftModel::draft(std::vector<DraftRequest> & requests) {
    const ForgetOnThrow guard(*this);
    struct Active {
        DraftRequest * request;
        double confidence;
    };
    std::vector<Active> active;
    batch_.clear();
    for (auto & request : requests) {
        const auto & tokens = *request.tokens;
        if (!fits(tokens, request.n_most)) continue;
        const size_t begin = align(request.sequence, tokens);
        if (tokens.size() - begin > kTuning.draft_few_tokens || batch_.capacity() < static_cast<int32_t>(tokens.size() - begin))
            continue;
        for (size_t i = begin; i < tokens.size(); i++) add(request.sequence, tokens[i], i + 1 == tokens.size());
        active.push_back({&request, 1});
    }
    uint32_t n_rounds = 0;
    while (!active.empty() && decode()) {
        n_rounds++;
        std::vector<int32_t> rows;
        for (int32_t i = 0; i < batch_.size(); i++) {
            if (batch_.raw().logits[i]) rows.push_back(i);
        }
        batch_.clear();
        std::vector<Active> going;
        for (size_t i = 0; i < active.size(); i++) {
            auto [request, confidence] = active[i];
            const float * logits = llama_get_logits_ith(context_.get(), rows[i]);
            const auto token = argmax(logits, model_->n_vocab());
            confidence *= std::exp(static_cast<double>(logits[token]) - log_sum_exp(logits, model_->n_vocab(), logits[token]));
            if (token >= n_shared_vocab_ || confidence < request->least_confidence) continue;
            request->draft.push_back(token);
            if (request->draft.size() >= request->n_most) continue;
            add(request->sequence, token, true);
            going.push_back({request, confidence});
        }
        active = std::move(going);
    }
    return n_rounds;
}

// How soon a draft can begin would tell one tenant what another has said.
void DraftModel::take_over(llama_seq_id sequence, const std::string & key) {
    auto & held = held_[static_cast<size_t>(sequence)];
    if (held.key == key) return;
    if (!held.tokens.empty()) llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, -1, -1);
    held.tokens.clear();
    held.key = key;
}

// Leaves in the cache what `tokens` begins with, but for its last token. Returns how many that are.
size_t DraftModel::align(llama_seq_id sequence, const std::vector<llama_token> & tokens) {
    auto & held = held_[static_cast<size_t>(sequence)].tokens;
    const auto most = static_cast<std::ptrdiff_t>(std::min(held.size(), tokens.size() - 1));
    const auto differ = std::mismatch(held.begin(), held.begin() + most, tokens.begin()).first;
    const auto n_common = static_cast<size_t>(differ - held.begin());
    if (n_common < held.size()) {
        llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, static_cast<llama_pos>(n_common), -1);
        held.resize(n_common);
    }
    return n_common;
}

void DraftModel::add(llama_seq_id sequence, llama_token token, bool wants_logits) {
    auto & held = held_[static_cast<size_t>(sequence)].tokens;
    batch_.add(token, static_cast<llama_pos>(held.size()), sequence, wants_logits);
    held.push_back(token);
}

// When cells run out, every sequence starts over; nothing but time is lost.
bool DraftModel::decode() {
    if (llama_decode(context_.get(), batch_.raw()) == 0) return true;
    forget();
    return false;
}

void DraftModel::forget() {
    llama_memory_clear(llama_get_memory(context_.get()), false);
    for (auto & held : held_) held.tokens.clear();
}

bool DraftModel::fits(const std::vector<llama_token> & tokens, size_t n_more) const {
    if (tokens.size() + n_more > n_most_tokens_) return false;
    return std::all_of(tokens.begin(), tokens.end(), [this](llama_token token) { return token >= 0 && token < n_shared_vocab_; });
}

}  // namespace svc
