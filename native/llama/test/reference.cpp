// What llama.h alone gives, written as plainly as can be: one prompt after the other, one context for each, no scheduler.
//
// reference generate BACKENDS MODEL N_THREADS N_TOKENS: prompt tokens, '|', greedy tokens up to the end of generation
// reference embed BACKENDS MODEL N_THREADS: the vector, pooled as the file says, normalised
// reference rank BACKENDS MODEL N_THREADS: the score; a prompt is query, byte 1, document
//
// Prompts come on stdin, each closed by a zero byte; each gives one line on stdout.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "llama.h"

namespace {

using Tokens = std::vector<llama_token>;
using Model = std::unique_ptr<llama_model, decltype(&llama_model_free)>;
using Context = std::unique_ptr<llama_context, decltype(&llama_free)>;

Tokens tokenize(const llama_vocab * vocab, const std::string & text, bool add_special) {
    Tokens tokens(text.size() + 8);
    const int count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                                     static_cast<int32_t>(tokens.size()), add_special, true);
    if (count < 0) throw std::runtime_error("the prompt cannot be tokenised");
    tokens.resize(static_cast<size_t>(count));
    return tokens;
}

bool says_pooling(const llama_model * model) {
    char architecture[64];
    char value[16];
    return llama_model_meta_val_str(model, "general.architecture", architecture, sizeof architecture) > 0 &&
           llama_model_meta_val_str(model, (std::string(architecture) + ".pooling_type").c_str(), value, sizeof value) > 0;
}

Context open_context(llama_model * model, int n_threads, bool embeddings) {
    auto params = llama_context_default_params();
    params.n_ctx = 512;
    params.n_batch = 512;
    params.n_ubatch = 512;
    params.n_threads = n_threads;
    params.n_threads_batch = n_threads;
    params.embeddings = embeddings;
    // As the embedder chooses; flash attention on a CPU rounds otherwise.
    if (embeddings) params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    // A model whose file says nothing is averaged, as the embedder does.
    if (embeddings && !says_pooling(model)) params.pooling_type = LLAMA_POOLING_TYPE_MEAN;
    Context context(llama_init_from_model(model, params), llama_free);
    if (!context) throw std::runtime_error("no context");
    return context;
}

void decode(llama_context * context, Tokens & tokens) {
    if (llama_decode(context, llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))) != 0)
        throw std::runtime_error("decode failed");
}

llama_token most_likely(llama_context * context, int n_vocab) {
    const float * logits = llama_get_logits_ith(context, -1);
    llama_token best = 0;
    for (llama_token token = 1; token < n_vocab; token++) {
        if (logits[token] > logits[best]) best = token;
    }
    return best;
}

void generate(llama_model * model, int n_threads, int n_tokens, const std::string & prompt) {
    const auto * vocab = llama_model_get_vocab(model);
    auto context = open_context(model, n_threads, false);
    auto tokens = tokenize(vocab, prompt, true);
    for (auto token : tokens) std::printf("%d ", token);
    std::printf("|");
    for (int i = 0; i < n_tokens; i++) {
        decode(context.get(), tokens);
        const auto token = most_likely(context.get(), llama_vocab_n_tokens(vocab));
        if (llama_vocab_is_eog(vocab, token)) break;
        std::printf(" %d", token);
        tokens = {token};
    }
    std::printf("\n");
}

// What llama.h gives without pooling is a vector for each token.
std::vector<double> mean_of_tokens(llama_context * context, int n_tokens, int n_embd) {
    std::vector<double> sums(static_cast<size_t>(n_embd));
    for (int token = 0; token < n_tokens; token++) {
        const float * values = llama_get_embeddings_ith(context, token);
        for (int i = 0; i < n_embd; i++) sums[static_cast<size_t>(i)] += values[i] / n_tokens;
    }
    return sums;
}

void embed(llama_model * model, int n_threads, const std::string & prompt) {
    auto context = open_context(model, n_threads, true);
    auto tokens = tokenize(llama_model_get_vocab(model), prompt, true);
    decode(context.get(), tokens);
    const int n_embd = llama_model_n_embd_out(model);
    const auto values = llama_pooling_type(context.get()) == LLAMA_POOLING_TYPE_NONE
                            ? mean_of_tokens(context.get(), static_cast<int>(tokens.size()), n_embd)
                            : std::vector<double>(llama_get_embeddings_seq(context.get(), 0),
                                                  llama_get_embeddings_seq(context.get(), 0) + n_embd);
    double sum = 0;
    for (const double value : values) sum += value * value;
    for (const double value : values) std::printf("%.9g ", value / std::sqrt(sum));
    std::printf("\n");
}

// [CLS] query [SEP] document [SEP], as a cross-encoder of the BERT family is trained.
void rank(llama_model * model, int n_threads, const std::string & pair) {
    const auto * vocab = llama_model_get_vocab(model);
    auto context = open_context(model, n_threads, true);
    const size_t mark = pair.find('\x01');
    auto tokens = tokenize(vocab, pair.substr(0, mark), true);
    auto document = tokenize(vocab, pair.substr(mark + 1), true);
    tokens.insert(tokens.end(), document.begin() + 1, document.end());
    decode(context.get(), tokens);
    std::printf("%.9g\n", llama_get_embeddings_seq(context.get(), 0)[0]);
}

std::vector<std::string> read_prompts() {
    std::string all((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    std::vector<std::string> prompts;
    for (size_t at = 0, end; (end = all.find('\0', at)) != std::string::npos; at = end + 1)
        prompts.push_back(all.substr(at, end - at));
    return prompts;
}

}  // namespace

int main(int argc, char ** argv) try {
    if (argc < 5) throw std::runtime_error("usage: reference generate|embed|rank BACKENDS MODEL N_THREADS [N_TOKENS]");
    const std::string mode = argv[1];
    const int n_threads = std::atoi(argv[4]);
    llama_log_set(
        [](ggml_log_level level, const char * text, void *) {
            if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
        },
        nullptr);
    ggml_backend_load_all_from_path(argv[2]);
    Model model(llama_model_load_from_file(argv[3], llama_model_default_params()), llama_model_free);
    if (!model) throw std::runtime_error("the model cannot be loaded");
    for (const auto & prompt : read_prompts()) {
        if (mode == "embed") embed(model.get(), n_threads, prompt);
        else if (mode == "rank") rank(model.get(), n_threads, prompt);
        else generate(model.get(), n_threads, argc > 5 ? std::atoi(argv[5]) : 32, prompt);
    }
    return 0;
} catch (const std::exception & error) {
    std::fprintf(stderr, "reference: %s\n", error.what());
    return 1;
}
