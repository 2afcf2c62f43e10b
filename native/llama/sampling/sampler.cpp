#include "sampler.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "../../common/status.h"
#include "../model/model.h"
#include "logits.h"

namespace svc {

namespace {

// Above this the heap of top_logits() is no gain.
constexpr int32_t kMostFastTopK = 256;
// Above this XTC does nothing, as two tokens cannot reach it.
constexpr float kMostXtcThreshold = 0.5f;

void add(llama_sampler * chain, llama_sampler * sampler) { llama_sampler_chain_add(chain, sampler); }

bool repeats(const SamplingOptions & o) {
    return o.repeat_last_n != 0 && (o.repeat_penalty != 1 || o.frequency_penalty != 0 || o.presence_penalty != 0);
}

// Whether a sampler of the job's list would change anything.
bool acts(SamplerKind kind, const SamplingOptions & o) {
    switch (kind) {
        case SamplerKind::Penalties: return repeats(o);
        case SamplerKind::Dry: return o.dry_multiplier > 0 && o.dry_penalty_last_n != 0;
        case SamplerKind::TopNSigma: return o.top_n_sigma > 0;
        case SamplerKind::TopK: return o.top_k > 0;
        case SamplerKind::Typical: return o.typical_p < 1;
        case SamplerKind::TopP: return o.top_p < 1;
        case SamplerKind::MinP: return o.min_p > 0;
        case SamplerKind::Xtc: return o.xtc_probability > 0 && o.xtc_threshold <= kMostXtcThreshold;
        case SamplerKind::Temperature: return true;
        case SamplerKind::AdaptiveP: return true;
    }
    return false;
}

bool has(SamplerKind kind, const SamplingOptions & o) {
    return std::find(o.samplers.begin(), o.samplers.end(), kind) != o.samplers.end() && acts(kind, o);
}

// Nothing but the likeliest token, after penalties, can come out.
bool is_greedy(const SamplingOptions & o) {
    return o.temperature <= 0 &&
           (o.mirostat != 0 || (has(SamplerKind::Temperature, o) && o.dynatemp_range <= 0 && !has(SamplerKind::Xtc, o)));
}

bool uses_mirostat(const SamplingOptions & o) { return o.mirostat != 0 && o.temperature > 0; }

bool penalises(const SamplingOptions & o) {
    return !uses_mirostat(o) && (has(SamplerKind::Penalties, o) || has(SamplerKind::Dry, o));
}

// The likeliest tokens that the chain looks at: as many as top_k keeps, where nothing in front of it looks at others; 0: all.
int32_t n_wanted_of(const SamplingOptions & o) {
    if (uses_mirostat(o) || penalises(o)) return 0;
    if (is_greedy(o)) return 1;
    for (const auto kind : o.samplers) {
        if (kind == SamplerKind::TopK && acts(kind, o)) return o.top_k;
        const bool keeps_order = kind == SamplerKind::Temperature && o.temperature > 0 && o.dynatemp_range <= 0;
        if (acts(kind, o) && !keeps_order && kind != SamplerKind::AdaptiveP) return 0;
    }
    return 0;
}

size_t n_remembered_of(const SamplingOptions & o) {
    int32_t n = 0;
    if (has(SamplerKind::Penalties, o)) n = std::max(n, o.repeat_last_n);
    if (has(SamplerKind::Dry, o)) n = std::max(n, o.dry_penalty_last_n);
    return penalises(o) ? static_cast<size_t>(n) : 0;
}

llama_sampler * dry_of(const Model & model, const SamplingOptions & o) {
    std::vector<const char *> breakers;
    for (const auto & text : o.dry_sequence_breakers) breakers.push_back(text.c_str());
    return llama_sampler_init_dry(model.vocab(), o.dry_multiplier, o.dry_base, o.dry_allowed_length, o.dry_penalty_last_n,
                                  breakers.data(), breakers.size());
}

llama_sampler * link_of(SamplerKind kind, const Model & model, const SamplingOptions & o, uint32_t seed) {
    const auto n_keep = static_cast<size_t>(o.min_keep);
    switch (kind) {
        case SamplerKind::Penalties:
            return llama_sampler_init_penalties(model.n_vocab(), o.repeat_last_n, o.repeat_penalty, o.frequency_penalty,
                                                o.presence_penalty);
        case SamplerKind::Dry: return dry_of(model, o);
        case SamplerKind::TopNSigma: return llama_sampler_init_top_n_sigma(o.top_n_sigma);
        case SamplerKind::TopK: return llama_sampler_init_top_k(o.top_k);
        case SamplerKind::Typical: return llama_sampler_init_typical(o.typical_p, n_keep);
        case SamplerKind::TopP: return llama_sampler_init_top_p(o.top_p, n_keep);
        case SamplerKind::MinP: return llama_sampler_init_min_p(o.min_p, n_keep);
        case SamplerKind::Xtc: return llama_sampler_init_xtc(o.xtc_probability, o.xtc_threshold, n_keep, seed);
        case SamplerKind::Temperature: return llama_sampler_init_temp_ext(o.temperature, o.dynatemp_range, o.dynatemp_exponent);
        case SamplerKind::AdaptiveP: return nullptr;  // chooses, so it comes last
    }
    return nullptr;
}

llama_sampler * choice_of(const SamplingOptions & o, uint32_t seed) {
    if (is_greedy(o)) return llama_sampler_init_greedy();
    if (has(SamplerKind::AdaptiveP, o)) return llama_sampler_init_adaptive_p(o.adaptive_target, o.adaptive_decay, seed);
    return llama_sampler_init_dist(seed);
}

// The chain of llama.cpp's common_sampler, without the links that would do nothing.
SamplerPtr build_chain(const Model & model, const SamplingOptions & o, uint32_t seed) {
    auto * chain = llama_sampler_chain_init({/*no_perf=*/true});
    SamplerPtr owned(chain);
    if (uses_mirostat(o)) {
        add(chain, llama_sampler_init_temp(o.temperature));
        add(chain, o.mirostat == 1 ? llama_sampler_init_mirostat(model.n_vocab(), seed, o.mirostat_tau, o.mirostat_eta, 100)
                                   : llama_sampler_init_mirostat_v2(seed, o.mirostat_tau, o.mirostat_eta));
        return owned;
    }
    for (const auto kind : o.samplers) {
        const bool counts = !is_greedy(o) || kind == SamplerKind::Penalties || kind == SamplerKind::Dry;
        if (!counts || !acts(kind, o)) continue;
        if (auto * link = link_of(kind, model, o, seed)) add(chain, link);
    }
    add(chain, choice_of(o, seed));
    return owned;
}

// Tokens that spell `text` exactly. Some tokenizers put a space before the first word; a line feed in front takes it.
std::vector<llama_token> spelling(const Model & model, const std::string & text) {
    auto tokens = model.tokenize("\n" + text, false, true);
    std::string spelled;
    size_t begin = tokens.size();
    while (begin > 0 && spelled.size() < text.size()) spelled.insert(0, model.piece(tokens[--begin], true));
    tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(begin));
    return spelled == text ? tokens : model.tokenize(text, false, true);
}

std::unique_ptr<GrammarGuide> follow_grammar(const Model & model, const GrammarSpec & spec) {
    // The prefix selects another grammar engine of llama.cpp's.
    if (spec.text.rfind("%llguidance", 0) == 0)
        throw StatusError("invalid_grammar", "llguidance grammars are not supported; write GBNF");
    auto guide = std::make_unique<GrammarGuide>(model.grammars(), spec);
    if (spec.lazy || spec.generation_prompt.empty()) return guide;
    // The template's own words are not the model's: the grammar goes over them before the first sampled token.
    for (auto token : spelling(model, spec.generation_prompt)) {
        if (!guide->accept(token))
            throw StatusError("invalid_grammar", "the grammar does not fit what the template begins the answer with");
    }
    return guide;
}

// Null where the job has no grammar.
std::unique_ptr<GrammarGuide> build_guide(const Model & model, const GrammarSpec & spec) {
    return spec.text.empty() ? nullptr : follow_grammar(model, spec);
}

std::vector<llama_logit_bias> all_biases(const Model & model, const SamplingOptions & options,
                                         const std::vector<llama_logit_bias> & asked) {
    std::map<llama_token, float> by_token;
    for (const auto & bias : asked) {
        if (bias.token < model.n_vocab()) by_token[bias.token] += bias.bias;
    }
    int32_t n_suppress = 0;
    const auto * suppress = llama_vocab_get_suppress_tokens(model.vocab(), &n_suppress);
    for (int32_t i = 0; i < n_suppress; i++) by_token[suppress[i]] = -INFINITY;
    for (llama_token token = 0; options.ignore_eos && token < model.n_vocab(); token++) {
        if (llama_vocab_is_eog(model.vocab(), token)) by_token[token] = -INFINITY;
    }
    std::vector<llama_logit_bias> merged;
    for (const auto & [token, bias] : by_token) merged.push_back({token, bias});
    return merged;
}

}  // namespace

Sampler::Sampler(const Model & model, const SamplingOptions & options, const std::vector<llama_logit_bias> & bias,
                 const GrammarSpec & grammar, uint32_t seed)
    : n_vocab_(model.n_vocab()),
      biases_(all_biases(model, options, bias)),
      build_chain_([&model, options, seed] { return build_chain(model, options, seed); }),
      guide_(build_guide(model, grammar)) {
    n_remembered_ = n_remembered_of(options);
    // Its breakers are sought in the whole vocabulary: not between two steps.
    if (has(SamplerKind::Dry, options)) chain();
    n_wanted_ = n_wanted_of(options);
    const auto n_biases = static_cast<int32_t>(biases_.size());
    if (n_wanted_ + n_biases > kMostFastTopK) n_wanted_ = 0;
}

llama_token Sampler::sample(const float * logits) {
    if (!chosen_) chosen_ = is_bound() ? pick_allowed(logits) : pick(logits);
    if (guide_ && !guide_->accept(*chosen_)) throw StatusError("internal", "a token that the grammar forbids was chosen");
    const llama_token token = *chosen_;
    free_.reset();
    chosen_.reset();
    llama_sampler_accept(chain(), token);
    return token;
}

llama_token Sampler::forced() {
    const auto * few = is_bound() ? guide_->few() : nullptr;
    return few && few->list().size() == 1 ? few->list()[0] : LLAMA_TOKEN_NULL;
}

void Sampler::accept_prompt(const std::vector<llama_token> & tokens) {
    for (size_t i = tokens.size() - std::min(tokens.size(), n_remembered_); i < tokens.size(); i++) {
        if (tokens[i] != LLAMA_TOKEN_NULL) llama_sampler_accept(chain(), tokens[i]);
    }
}

llama_sampler * Sampler::chain() {
    if (!chain_) chain_ = build_chain_();
    return chain_.get();
}

llama_token Sampler::pick(const float * logits) {
    if (n_wanted_ == 1 && biases_.empty()) return argmax(logits, n_vocab_);
    fill(logits);
    return apply_chain();
}

// As llama.cpp does it: the chain chooses freely, and only when the grammar forbids its choice, once more among what is allowed.
llama_token Sampler::pick_allowed(const float * logits) {
    if (!free_) {
        if (const auto token = forced(); token != LLAMA_TOKEN_NULL) return token;
        free_ = pick(logits);
    }
    if (guide_->allows(*free_)) return *free_;
    const auto * known = guide_->known();
    // Where much is allowed, the likeliest few are found sooner among the likeliest of all than by a look at the vocabulary.
    if (n_wanted_ > 0 && !(known && known->is_list())) {
        const auto n_look = 4 * n_wanted_ + 64;
        if (fill_likeliest(logits, n_look, [&](llama_token token) { return guide_->allows(token); })) return apply_chain();
    }
    fill_allowed(logits, guide_->allowed());
    return apply_chain();
}

llama_token Sampler::apply_chain() {
    llama_sampler_apply(chain(), &array_);
    if (array_.selected < 0) throw StatusError("internal", "no token is possible under these sampling options");
    return array_.data[array_.selected].id;
}

// What the chain chooses from: all tokens, or where it keeps the likeliest few anyway, those alone.
void Sampler::fill(const float * logits) {
    if (n_wanted_ > 0) {
        fill_likeliest(logits, n_wanted_, [](llama_token) { return true; });
        return;
    }
    candidates_.resize(static_cast<size_t>(n_vocab_));
    for (llama_token token = 0; token < n_vocab_; token++) candidates_[static_cast<size_t>(token)] = {token, logits[token], 0.0f};
    for (const auto & bias : biases_) candidates_[static_cast<size_t>(bias.token)].logit += bias.bias;
    array_ = {candidates_.data(), candidates_.size(), -1, false};
}

void Sampler::fill_allowed(const float * logits, const TokenSet & allowed) {
    candidates_.clear();
    allowed.for_each([&](llama_token token) { candidates_.push_back({token, logits[token], 0.0f}); });
    if (candidates_.empty()) throw StatusError("invalid_grammar", "no token of this model can continue the grammar");
    array_ = {candidates_.data(), candidates_.size(), -1, false};
    if (biases_.empty()) return;
    auto biased = candidates_;
    for (const auto & bias : biases_) {
        auto at = std::lower_bound(biased.begin(), biased.end(), bias.token,
                                   [](const auto & data, auto token) { return data.id < token; });
        if (at != biased.end() && at->id == bias.token) at->logit += bias.bias;
    }
    biased.erase(std::remove_if(biased.begin(), biased.end(), [](const auto & data) { return data.logit == -INFINITY; }),
                 biased.end());
    // Where biases forbid all that the grammar allows, the grammar has the last word.
    if (biased.empty()) return;
    candidates_.swap(biased);
    array_ = {candidates_.data(), candidates_.size(), -1, false};
}

// The likeliest n_wanted_ tokens that pass the test, sought among the n_look likeliest; false when there may be others. Without
// its biased tokens, the wanted few are among as many more as there are biases; the biased ones compete beside them.
template <typename Test> bool Sampler::fill_likeliest(const float * logits, int32_t n_look, Test && test) {
    const auto n_biases = static_cast<int32_t>(biases_.size());
    top_logits(logits, n_vocab_, std::min(n_look + n_biases, n_vocab_), candidates_);
    auto is_biased = [this](llama_token token) {
        return std::any_of(biases_.begin(), biases_.end(), [&](const auto & bias) { return bias.token == token; });
    };
    size_t n_kept = 0;
    const auto n_wanted = static_cast<size_t>(n_wanted_);
    for (size_t i = 0; i < candidates_.size() && n_kept < n_wanted; i++) {
        if (is_biased(candidates_[i].id) || !test(candidates_[i].id)) continue;
        candidates_[n_kept++] = candidates_[i];
    }
    candidates_.resize(n_kept);
    if (n_biases > 0) {
        for (const auto & bias : biases_) {
            if (test(bias.token)) candidates_.push_back({bias.token, logits[bias.token] + bias.bias, 0.0f});
        }
        std::sort(candidates_.begin(), candidates_.end(), [](const auto & a, const auto & b) { return a.logit > b.logit; });
        candidates_.resize(std::min(candidates_.size(), n_wanted));
    }
    array_ = {candidates_.data(), candidates_.size(), -1, true};
    return n_kept == n_wanted;
}

float log_probability(const float * logits, int32_t n_vocab, llama_token token, int32_t n_top,
                      std::vector<TokenProbability> & top) {
    thread_local std::vector<llama_token_data> largest;
    top_logits(logits, n_vocab, std::clamp(n_top, 1, n_vocab), largest);
    const float log_sum = log_sum_exp(logits, n_vocab, largest.front().logit);
    top.clear();
    for (const auto & entry : largest) {
        if (static_cast<int32_t>(top.size()) < n_top) top.push_back({entry.id, entry.logit - log_sum});
    }
    return logits[token] - log_sum;
}

}  // namespace svc
