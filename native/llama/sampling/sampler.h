// Picks one token from a row of logits. It knows no llama_context, so it can run on any thread that holds the row.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../grammar/grammar_guide.h"
#include "../options/options.h"
#include "llama.h"

namespace svc {

class Model;

struct SamplerDeleter {
    void operator()(llama_sampler * sampler) const { llama_sampler_free(sampler); }
};
using SamplerPtr = std::unique_ptr<llama_sampler, SamplerDeleter>;

struct TokenProbability {
    llama_token token;
    float logprob;
};

class Sampler {
  public:
    // Throws StatusError invalid_grammar or grammar_too_complex, and GrammarLate as sample() does. `model` must outlive it.
    Sampler(const Model & model, const SamplingOptions & options, const std::vector<llama_logit_bias> & bias,
            const GrammarSpec & grammar, uint32_t seed);

    // The next token for logits[n_vocab]; the row is not changed. Accepts it, so the next call continues after it. Throws
    // GrammarLate when the GrammarBudget of the calling thread is spent: another call with the same row then goes on where this
    // one stopped, on any thread, and comes to the same token. Throws StatusError grammar_too_complex.
    llama_token sample(const float * logits);
    bool has_grammar() const { return guide_ != nullptr; }
    // Whether a grammar decides of the next token.
    bool is_bound() const { return guide_ && guide_->active(); }
    // The one token that sample() can return next, whatever the logits, or LLAMA_TOKEN_NULL where there are several.
    llama_token forced();
    // Penalties see the prompt too, as llama-server's do.
    void accept_prompt(const std::vector<llama_token> & tokens);

  private:
    llama_sampler * chain();
    llama_token pick(const float * logits);
    llama_token pick_allowed(const float * logits);
    llama_token apply_chain();
    void fill(const float * logits);
    void fill_allowed(const float * logits, const TokenSet & allowed);
    template <typename Test> bool fill_likeliest(const float * logits, int32_t n_look, Test && test);

    int32_t n_vocab_;
    size_t n_remembered_ = 0;  // tokens that penalties look back at
    int32_t n_wanted_ = 0;     // likeliest tokens that the chain looks at; 0: it needs every token
    std::vector<llama_logit_bias> biases_;
    // Made when it is needed: a chain takes 10 KiB, most of it random number generators, and thousands of jobs may wait.
    std::function<SamplerPtr()> build_chain_;
    SamplerPtr chain_;
    std::unique_ptr<GrammarGuide> guide_;
    // They are what has been chosen of a row whose grammar takes long. To choose changes the chain.
    std::optional<llama_token> free_;  // whatever the grammar says
    std::optional<llama_token> chosen_;
    std::vector<llama_token_data> candidates_;
    llama_token_data_array array_{};
};

// Natural-log probability of `token` and of the n_top likeliest tokens under softmax(logits), likeliest first.
float log_probability(const float * logits, int32_t n_vocab, llama_token token, int32_t n_top,
                      std::vector<TokenProbability> & top);

}  // namespace svc
