// Grammars and guided sampling beside llama.cpp's own: every difference is printed, and nothing else is.
//
// grammar-reference BACKENDS VOCABULARY masks SEED N_STEPS: random walks through each grammar; the allowed tokens must be the
// same grammar-reference BACKENDS VOCABULARY tokens SEED N_STEPS: random logits; Sampler must pick the token that llama.cpp's
// samplers pick
//
// Grammars come on stdin, each closed by a zero byte; each gives one line on stdout: "ok STEPS ALLOWED", "refused", or what
// differs.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "../../common/status.h"
#include "../grammar/grammar_budget.h"
#include "../model/model.h"
#include "../sampling/sampler.h"

using namespace svc;

namespace {

using Random = std::mt19937;

std::vector<bool> allowed_upstream(llama_sampler * grammar, const std::vector<llama_token> & tokens) {
    std::vector<llama_token_data> data;
    for (auto token : tokens) data.push_back({token, 0.0f, 0.0f});
    llama_token_data_array array{data.data(), data.size(), -1, false};
    llama_sampler_apply(grammar, &array);
    std::vector<bool> allowed;
    for (const auto & entry : data) allowed.push_back(entry.logit != -INFINITY);
    return allowed;
}

// All tokens that we allow, while they are few, and some of the others.
std::vector<llama_token> some_tokens(const TokenSet & ours, int32_t n_vocab, Random & random) {
    std::vector<llama_token> tokens;
    if (ours.is_list()) tokens = ours.list();
    for (int i = 0; i < 2000; i++) tokens.push_back(static_cast<llama_token>(random() % static_cast<uint32_t>(n_vocab)));
    return tokens;
}

// llama.cpp takes bytes that are no UTF-8 for characters, and an end inside a character for an end; we do not.
bool is_text(const GrammarPosition & position, const VocabularyTrie & vocabulary, llama_token token) {
    Utf8Partial partial = position.partial;
    if (vocabulary.is_end(token)) return partial.none();
    for (char c : vocabulary.text(token)) {
        if (!partial.push(static_cast<uint8_t>(c))) return false;
        if (partial.none()) partial = {};
    }
    return !vocabulary.text(token).empty();
}

bool ends_inside_character(const GrammarPosition & position, std::string_view text) {
    Utf8Partial partial = position.partial;
    for (char c : text) partial.push(static_cast<uint8_t>(c));
    return !partial.none();
}

std::string compare_masks(const Model & model, const std::string & text, int n_steps, Random & random) {
    const auto & vocabulary = model.grammars().vocabulary();
    SamplerPtr theirs(llama_sampler_init_grammar(model.vocab(), text.c_str(), "root"));
    std::shared_ptr<Grammar> ours;
    try {
        ours = model.grammars().get("test", text);
    } catch (const StatusError & error) {
        return theirs ? std::string("refused by us alone: ") + error.what() : "refused";
    }
    if (!theirs) return "refused by llama.cpp alone";
    GrammarPosition position{ours->start(), {}};
    size_t n_allowed = 0;
    int step = 0;
    for (; step < n_steps; step++) {
        const auto mask = *allowed_tokens(*ours, position, vocabulary);
        const auto tokens = some_tokens(mask, model.n_vocab(), random);
        const auto expected = allowed_upstream(theirs.get(), tokens);
        std::vector<llama_token> choices;
        for (size_t i = 0; i < tokens.size(); i++) {
            if (!is_text(position, vocabulary, tokens[i])) continue;
            // Of a negated class, llama.cpp forbids each beginning of a character that some excluded character shares.
            if (mask.has(tokens[i]) && ends_inside_character(position, vocabulary.text(tokens[i]))) continue;
            if (mask.has(tokens[i]) != expected[i])
                return "step " + std::to_string(step) + ": token " + std::to_string(tokens[i]) + " '" +
                       std::string(vocabulary.text(tokens[i])) + "' is " + (expected[i] ? "allowed" : "forbidden") +
                       " by llama.cpp";
            if (expected[i] && !vocabulary.is_end(tokens[i])) choices.push_back(tokens[i]);
        }
        n_allowed += choices.size();
        if (choices.empty()) break;
        const auto token = choices[random() % choices.size()];
        llama_sampler_accept(theirs.get(), token);
        GrammarPosition behind = position;
        bool is_read = behind.read(*ours, vocabulary.text(token));
        auto * named = position.partial.none() ? ours->next_token(position.state, token) : ours->dead();
        if (!is_read && named->dead()) return "an allowed token cannot be read";
        if (!is_read) behind = {named, {}};
        else if (behind.partial.none()) behind.state = ours->join(behind.state, named);
        position = behind;
    }
    return "ok " + std::to_string(step) + " " + std::to_string(n_allowed);
}

SamplingOptions random_options(Random & random) {
    auto chance = [&](int of) { return random() % static_cast<uint32_t>(of) == 0; };
    SamplingOptions options;
    options.temperature = chance(3) ? 0.0f : 0.7f + 0.1f * static_cast<float>(random() % 8);
    options.top_k = chance(3) ? 0 : static_cast<int32_t>(random() % 60) + 1;
    options.top_p = chance(2) ? 1.0f : 0.9f;
    options.min_p = chance(2) ? 0.0f : 0.05f;
    options.repeat_penalty = chance(4) ? 1.1f : 1.0f;
    return options;
}

// llama.cpp's samplers as its server uses them: choose, ask the grammar, choose again among what it allows.
class Upstream {
  public:
    Upstream(const Model & model, const std::string & grammar, const SamplingOptions & o, uint32_t seed)
        : model_(model),
          grammar_(llama_sampler_init_grammar(model.vocab(), grammar.c_str(), "root")),
          chain_(llama_sampler_chain_init({true})) {
        auto add = [&](llama_sampler * sampler) { llama_sampler_chain_add(chain_.get(), sampler); };
        if (o.repeat_penalty != 1) add(llama_sampler_init_penalties(model.n_vocab(), o.repeat_last_n, o.repeat_penalty, 0, 0));
        if (o.temperature <= 0) {
            add(llama_sampler_init_greedy());
            return;
        }
        if (o.top_k > 0) add(llama_sampler_init_top_k(o.top_k));
        if (o.top_p < 1) add(llama_sampler_init_top_p(o.top_p, 0));
        if (o.min_p > 0) add(llama_sampler_init_min_p(o.min_p, 0));
        add(llama_sampler_init_temp(o.temperature));
        add(llama_sampler_init_dist(seed));
    }

    bool refused() const { return !grammar_; }

    // LLAMA_TOKEN_NULL when the grammar can only end.
    llama_token sample(const std::vector<float> & logits) {
        std::vector<llama_token> all(logits.size());
        for (size_t i = 0; i < all.size(); i++) all[i] = static_cast<llama_token>(i);
        const auto allowed = allowed_upstream(grammar_.get(), all);
        const auto n_allowed = std::count(allowed.begin(), allowed.end(), true);
        llama_token token = LLAMA_TOKEN_NULL;
        // Sampler spares the chain where there is nothing to choose.
        if (n_allowed == 1) token = static_cast<llama_token>(std::find(allowed.begin(), allowed.end(), true) - allowed.begin());
        if (n_allowed > 1) {
            token = pick(logits, nullptr);
            if (!allowed[static_cast<size_t>(token)]) token = pick(logits, &allowed);
        }
        if (token == LLAMA_TOKEN_NULL || llama_vocab_is_eog(model_.vocab(), token)) return LLAMA_TOKEN_NULL;
        llama_sampler_accept(grammar_.get(), token);
        llama_sampler_accept(chain_.get(), token);
        return token;
    }

  private:
    llama_token pick(const std::vector<float> & logits, const std::vector<bool> * allowed) {
        std::vector<llama_token_data> data;
        for (size_t i = 0; i < logits.size(); i++)
            data.push_back({static_cast<llama_token>(i), !allowed || (*allowed)[i] ? logits[i] : -INFINITY, 0.0f});
        llama_token_data_array array{data.data(), data.size(), -1, false};
        llama_sampler_apply(chain_.get(), &array);
        return array.data[array.selected].id;
    }

    const Model & model_;
    SamplerPtr grammar_;
    SamplerPtr chain_;
};

// As a step does it that has no time: the sampler is broken off and goes on, until it has a token.
llama_token sample_in_pieces(Sampler & sampler, const std::vector<float> & logits) {
    for (double ms = 0;; ms = 2 * ms + 0.01) {
        try {
            const GrammarBudget budget(GrammarBudget::Kind::Thread, ms);
            return sampler.sample(logits.data());
        } catch (const GrammarLate &) {
            // Again.
        }
    }
}

std::string compare_tokens(const Model & model, const std::string & text, int n_steps, Random & random) {
    const auto options = random_options(random);
    const auto seed = static_cast<uint32_t>(random());
    Upstream theirs(model, text, options, seed);
    if (theirs.refused()) return "refused";
    Sampler ours(model, options, {}, {text, false, {}, ""}, seed);
    std::normal_distribution<float> normal(0, 3);
    std::vector<float> logits(static_cast<size_t>(model.n_vocab()));
    int step = 0;
    for (; step < n_steps; step++) {
        for (auto & logit : logits) logit = normal(random);
        // Half of the time what the grammar allows is likely anyway, as with a model that was trained for it.
        if (random() % 2 == 0) {
            for (auto token : model.tokenize("{\"a\": 1, true abc", false, false)) logits[static_cast<size_t>(token)] += 12;
        }
        const auto expected = theirs.sample(logits);
        if (expected == LLAMA_TOKEN_NULL) break;
        const auto token = random() % 2 == 0 ? ours.sample(logits.data()) : sample_in_pieces(ours, logits);
        if (token != expected)
            return "step " + std::to_string(step) + ": " + std::to_string(token) + " and not " + std::to_string(expected) +
                   " (temperature " + std::to_string(options.temperature) + ", top_k " + std::to_string(options.top_k) + ")";
    }
    return "ok " + std::to_string(step) + " 1";
}

}  // namespace

int main(int argc, char ** argv) try {
    if (argc < 6) throw std::runtime_error("usage: grammar-reference BACKENDS VOCABULARY masks|tokens SEED N_STEPS");
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    ggml_backend_load_all_from_path(argv[1]);
    LoadOptions options;
    options.path = argv[2];
    options.vocab_only = true;
    const auto model = Model::load(options, [](float) { return true; });
    Random random(static_cast<uint32_t>(std::atoi(argv[4])));
    const std::string all((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    for (size_t at = 0, end; (end = all.find('\0', at)) != std::string::npos; at = end + 1) {
        const auto compare = std::string(argv[3]) == "masks" ? compare_masks : compare_tokens;
        std::printf("%s\n", compare(*model, all.substr(at, end - at), std::atoi(argv[5]), random).c_str());
    }
    return 0;
} catch (const std::exception & error) {
    std::fprintf(stderr, "grammar-reference: %s\n", error.what());
    return 1;
}
