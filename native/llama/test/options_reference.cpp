// What llama.cpp's own common_sampler and contexts choose under given options.
//
// options-reference BACKENDS MODEL N_TOKENS TOKEN...: the prompt's tokens. Each line of stdin is one case, NAME=VALUE pairs with
// spaces between; each gives one line on stdout, the tokens that were chosen.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common.h"
#include "llama.h"
#include "log.h"
#include "sampling.h"

namespace {

using Tokens = std::vector<llama_token>;

struct Case {
    common_params_sampling sampling;
    llama_context_params context = llama_context_default_params();
};

template <typename T> std::function<void(const std::string &)> number(T & into) {
    return [&into](const std::string & text) { into = static_cast<T>(std::stod(text)); };
}

std::vector<std::string> split(const std::string & text) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
    return parts;
}

void set(Case & to, const std::string & name, const std::string & value) {
    auto & s = to.sampling;
    auto & c = to.context;
    const std::map<std::string, std::function<void(const std::string &)>> setters = {
        {"seed", number(s.seed)},
        {"temperature", number(s.temp)},
        {"top_k", number(s.top_k)},
        {"top_p", number(s.top_p)},
        {"min_p", number(s.min_p)},
        {"typical_p", number(s.typ_p)},
        {"top_n_sigma", number(s.top_n_sigma)},
        {"min_keep", number(s.min_keep)},
        {"dynatemp_range", number(s.dynatemp_range)},
        {"dynatemp_exponent", number(s.dynatemp_exponent)},
        {"repeat_penalty", number(s.penalty_repeat)},
        {"repeat_last_n", number(s.penalty_last_n)},
        {"frequency_penalty", number(s.penalty_freq)},
        {"dry_multiplier", number(s.dry_multiplier)},
        {"dry_base", number(s.dry_base)},
        {"dry_allowed_length", number(s.dry_allowed_length)},
        {"dry_penalty_last_n", number(s.dry_penalty_last_n)},
        {"dry_sequence_breakers", [&](const std::string & text) { s.dry_sequence_breakers = split(text); }},
        {"xtc_probability", number(s.xtc_probability)},
        {"xtc_threshold", number(s.xtc_threshold)},
        {"adaptive_target", number(s.adaptive_target)},
        {"adaptive_decay", number(s.adaptive_decay)},
        {"samplers", [&](const std::string & text) { s.samplers = common_sampler_types_from_names(split(text)); }},
        {"rope_scaling",
         [&](const std::string & text) {
             c.rope_scaling_type = text == "yarn" ? LLAMA_ROPE_SCALING_TYPE_YARN : LLAMA_ROPE_SCALING_TYPE_LINEAR;
         }},
        {"rope_freq_base", number(c.rope_freq_base)},
        {"rope_freq_scale", number(c.rope_freq_scale)},
        {"yarn_orig_ctx", number(c.yarn_orig_ctx)},
        {"yarn_ext_factor", number(c.yarn_ext_factor)},
        {"yarn_attn_factor", number(c.yarn_attn_factor)},
        {"yarn_beta_fast", number(c.yarn_beta_fast)},
        {"yarn_beta_slow", number(c.yarn_beta_slow)},
    };
    setters.at(name)(value);
}

void run(llama_model * model, Case & options, Tokens tokens, int n_tokens) {
    options.context.n_ctx = 512;
    options.context.n_threads = 1;
    options.context.n_threads_batch = 1;
    std::unique_ptr<llama_context, decltype(&llama_free)> context(llama_init_from_model(model, options.context), llama_free);
    common_sampler_ptr sampler(common_sampler_init(model, options.sampling));
    for (auto token : tokens) common_sampler_accept(sampler.get(), token, false);
    for (int i = 0; i < n_tokens; i++) {
        if (llama_decode(context.get(), llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))) != 0)
            throw std::runtime_error("decode failed");
        const auto token = common_sampler_sample(sampler.get(), context.get(), -1);
        common_sampler_accept(sampler.get(), token, true);
        std::printf("%d ", token);
        tokens = {token};
    }
    std::printf("\n");
}

}  // namespace

int main(int argc, char ** argv) try {
    if (argc < 5) throw std::runtime_error("usage: options-reference BACKENDS MODEL N_TOKENS TOKEN...");
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    common_log_pause(common_log_main());
    ggml_backend_load_all_from_path(argv[1]);
    std::unique_ptr<llama_model, decltype(&llama_model_free)> model(
        llama_model_load_from_file(argv[2], llama_model_default_params()), llama_model_free);
    Tokens prompt;
    for (int i = 4; i < argc; i++) prompt.push_back(std::atoi(argv[i]));
    for (std::string line; std::getline(std::cin, line);) {
        Case options;
        std::istringstream pairs(line);
        for (std::string pair; pairs >> pair;) set(options, pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
        run(model.get(), options, prompt, std::atoi(argv[3]));
    }
    return 0;
} catch (const std::exception & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
