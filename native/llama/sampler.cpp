#include "sampler.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "../common/status.h"
#include "logits.h"
#include "model.h"

namespace svc {

namespace {

// Above this the heap of top_logits() is no gain.
constexpr int32_t kMostFastTopK = 256;

void add(llama_sampler * chain, llama_sampler * sampler) { llama_sampler_chain_add(chain, sampler); }

bool penalises(const SamplingOptions & o) {
    const bool repeats = o.repeat_last_n != 0 && (o.repeat_penalty != 1 || o.frequency_penalty != 0 || o.presence_penalty != 0);
    return repeats || o.dry_multiplier > 0;
}

// The chain of llama.cpp's common_sampler in the same order, without the links that would do nothing.
SamplerPtr build_chain(const Model & model, const SamplingOptions & o, uint32_t seed) {
    auto * chain = llama_sampler_chain_init({/*no_perf=*/true});
    SamplerPtr owned(chain);
    const int32_t n_vocab = model.n_vocab();
    if (o.mirostat != 0 && o.temperature > 0) {
        add(chain, llama_sampler_init_temp(o.temperature));
        add(chain, o.mirostat == 1 ? llama_sampler_init_mirostat(n_vocab, seed, o.mirostat_tau, o.mirostat_eta, 100)
                                   : llama_sampler_init_mirostat_v2(seed, o.mirostat_tau, o.mirostat_eta));
        return owned;
    }
    if (o.repeat_last_n != 0 && (o.repeat_penalty != 1 || o.frequency_penalty != 0 || o.presence_penalty != 0)) {
        add(chain,
            llama_sampler_init_penalties(n_vocab, o.repeat_last_n, o.repeat_penalty, o.frequency_penalty, o.presence_penalty));
    }
    if (o.dry_multiplier > 0) {
        const char * breakers[] = {"\n", ":", "\"", "*"};
        add(chain, llama_sampler_init_dry(model.vocab(), o.dry_multiplier, 1.75f, 2, o.repeat_last_n, breakers, 4));
    }
    if (o.temperature <= 0) {
        add(chain, llama_sampler_init_greedy());
        return owned;
    }
    if (o.top_k > 0) add(chain, llama_sampler_init_top_k(o.top_k));
    if (o.typical_p < 1) add(chain, llama_sampler_init_typical(o.typical_p, 0));
    if (o.top_p < 1) add(chain, llama_sampler_init_top_p(o.top_p, 0));
    if (o.min_p > 0) add(chain, llama_sampler_init_min_p(o.min_p, 0));
    if (o.xtc_probability > 0) add(chain, llama_sampler_init_xtc(o.xtc_probability, o.xtc_threshold, 0, seed));
    add(chain, llama_sampler_init_temp(o.temperature));
    add(chain, llama_sampler_init_dist(seed));
    return owned;
}

std::string escape_regex(const std::string & text) {
    std::string escaped;
    for (char c : text) {
        if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) escaped += '\\';
        escaped += c;
    }
    return escaped;
}

// A trigger as the regular expression that llama.cpp matches from the start of the output.
std::string pattern_of(const common_grammar_trigger & trigger) {
    switch (trigger.type) {
        case COMMON_GRAMMAR_TRIGGER_TYPE_WORD: return escape_regex(trigger.value);
        case COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN_FULL: return "^" + trigger.value + "$";
        default: return trigger.value;
    }
}

llama_sampler * build_lazy(const llama_vocab * vocab, const GrammarSpec & spec) {
    std::vector<std::string> patterns;
    std::vector<llama_token> tokens;
    for (const auto & trigger : spec.triggers) {
        if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN) tokens.push_back(trigger.token);
        else patterns.push_back(pattern_of(trigger));
    }
    std::vector<const char *> raw;
    for (const auto & pattern : patterns) raw.push_back(pattern.c_str());
    return llama_sampler_init_grammar_lazy_patterns(vocab, spec.text.c_str(), "root", raw.data(), raw.size(), tokens.data(),
                                                    tokens.size());
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

// The template's own words are not the model's: the grammar accepts them before the first sampled token.
void walk_generation_prompt(llama_sampler * grammar, const Model & model, const std::string & text) {
    for (auto token : spelling(model, text)) llama_sampler_accept(grammar, token);
}

SamplerPtr build_grammar(const Model & model, const GrammarSpec & spec) {
    if (spec.text.empty()) return nullptr;
    // The prefix selects another grammar engine, which this build leaves out.
    if (spec.text.rfind("%llguidance", 0) == 0)
        throw StatusError("invalid_grammar", "llguidance grammars are not supported; write GBNF");
    try {
        SamplerPtr grammar(spec.lazy ? build_lazy(model.vocab(), spec)
                                     : llama_sampler_init_grammar(model.vocab(), spec.text.c_str(), "root"));
        if (!grammar) throw StatusError("invalid_grammar", "the grammar cannot be parsed; see the GBNF guide of llama.cpp");
        if (!spec.lazy && !spec.generation_prompt.empty()) walk_generation_prompt(grammar.get(), model, spec.generation_prompt);
        return grammar;
    } catch (const StatusError &) {
        throw;
    } catch (const std::exception & error) {
        throw StatusError("invalid_grammar", std::string("the grammar cannot be used: ") + error.what());
    }
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
    : n_vocab_(model.n_vocab()), biases_(all_biases(model, options, bias)), grammar_(build_grammar(model, grammar)) {
    chain_ = build_chain(model, options, seed);
    if (options.mirostat != 0 || penalises(options)) return;
    const auto n_biases = static_cast<int32_t>(biases_.size());
    if (options.temperature <= 0) n_wanted_ = 1;
    else if (options.top_k > 0) n_wanted_ = options.top_k;
    if (n_wanted_ + n_biases > kMostFastTopK) n_wanted_ = 0;
}

llama_token Sampler::sample(const float * logits) {
    llama_token token = pick(logits, false);
    if (grammar_ && !grammar_allows(token)) {
        token = pick(logits, true);
        // llama.cpp aborts the process when a grammar accepts what it forbids.
        if (!grammar_allows(token)) throw StatusError("invalid_grammar", "no token of this model can continue the grammar");
    }
    if (grammar_) llama_sampler_accept(grammar_.get(), token);
    llama_sampler_accept(chain_.get(), token);
    return token;
}

void Sampler::accept_prompt(llama_token token) { llama_sampler_accept(chain_.get(), token); }

llama_token Sampler::pick(const float * logits, bool grammar_first) {
    if (n_wanted_ == 1 && biases_.empty() && !grammar_first) return argmax(logits, n_vocab_);
    fill(logits, grammar_first);
    if (grammar_first) llama_sampler_apply(grammar_.get(), &array_);
    llama_sampler_apply(chain_.get(), &array_);
    if (array_.selected < 0) throw StatusError("internal", "no token is possible under these sampling options");
    return array_.data[array_.selected].id;
}

bool Sampler::grammar_allows(llama_token token) {
    llama_token_data one{token, 1.0f, 0.0f};
    llama_token_data_array single{&one, 1, -1, false};
    llama_sampler_apply(grammar_.get(), &single);
    return one.logit != -INFINITY;
}

// What the chain chooses from: all tokens, or where it keeps the likeliest few anyway, those alone.
void Sampler::fill(const float * logits, bool all) {
    if (n_wanted_ > 0 && !all) {
        fill_likeliest(logits);
        return;
    }
    candidates_.resize(static_cast<size_t>(n_vocab_));
    for (llama_token token = 0; token < n_vocab_; token++) candidates_[static_cast<size_t>(token)] = {token, logits[token], 0.0f};
    for (const auto & bias : biases_) candidates_[static_cast<size_t>(bias.token)].logit += bias.bias;
    array_ = {candidates_.data(), candidates_.size(), -1, false};
}

// Without its biased tokens, the wanted few are among as many more as there are biases; the biased ones compete beside them.
void Sampler::fill_likeliest(const float * logits) {
    const auto n_biases = static_cast<int32_t>(biases_.size());
    top_logits(logits, n_vocab_, std::min(n_wanted_ + n_biases, n_vocab_), candidates_);
    if (n_biases > 0) {
        auto is_biased = [this](const llama_token_data & data) {
            return std::any_of(biases_.begin(), biases_.end(),
                               [&](const llama_logit_bias & bias) { return bias.token == data.id; });
        };
        candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), is_biased), candidates_.end());
        for (const auto & bias : biases_) candidates_.push_back({bias.token, logits[bias.token] + bias.bias, 0.0f});
        std::sort(candidates_.begin(), candidates_.end(), [](const auto & a, const auto & b) { return a.logit > b.logit; });
        candidates_.resize(std::min(candidates_.size(), static_cast<size_t>(n_wanted_)));
    }
    array_ = {candidates_.data(), candidates_.size(), -1, true};
}

float log_probability(const float * logits, int32_t n_vocab, llama_token token, int32_t n_top,
                      std::vector<TokenProbability> & top) {
    const float log_sum = log_sum_exp(logits, n_vocab);
    thread_local std::vector<llama_token_data> largest;
    top.clear();
    if (n_top > 0) {
        top_logits(logits, n_vocab, std::min(n_top, n_vocab), largest);
        for (const auto & entry : largest) top.push_back({entry.id, entry.logit - log_sum});
    }
    return logits[token] - log_sum;
}

}  // namespace svc
