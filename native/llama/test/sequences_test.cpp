// sequences-test LIBRARIES MODEL: which sequences Sequences gives out when others hold cached prefixes. Prints a line for each
// scene: its name, and the ids or answers. Nothing is computed: the cache only has to be there.
#include "../sequences.h"

#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "ggml-backend.h"

namespace {

using svc::Sequence;
using svc::Sequences;

constexpr uint32_t kCount = 8;
constexpr size_t kTemplate = 10;  // tokens that every prompt begins with

struct Scene {
    explicit Scene(llama_context * context)
        : sequences(context, {kCount, llama_n_ctx(context), svc::Sharing::Copies, 0, true, 1}) {}

    // Begins like all others and goes on like none.
    std::vector<llama_token> prompt(size_t n_tokens) {
        std::vector<llama_token> tokens(n_tokens);
        std::iota(tokens.begin(), tokens.end(), static_cast<llama_token>(1'000 * ++n_prompts));
        std::iota(tokens.begin(), tokens.begin() + kTemplate, 1);
        return tokens;
    }

    Sequence & begin(size_t n_tokens) {
        const auto tokens = prompt(n_tokens);
        size_t n_common = 0;
        auto * source = sequences.find_prefix("tenant", tokens, n_tokens - 1, n_common);
        auto * sequence = sequences.acquire("tenant", source, n_common, true);
        if (!sequence) throw std::runtime_error("no sequence is left");
        sequences.append(*sequence, tokens.data() + n_common, n_tokens - n_common, static_cast<llama_pos>(n_tokens));
        return *sequence;
    }

    // All hold a prefix that nobody saved; the first one is the oldest.
    void fill(size_t n_tokens) {
        std::vector<Sequence *> all;
        for (uint32_t i = 0; i < kCount; i++) all.push_back(&begin(n_tokens));
        for (auto * sequence : all) sequences.release(*sequence);
    }

    Sequences sequences;
    int n_prompts = 0;
};

void print(const char * name, const std::vector<llama_seq_id> & ids) {
    std::printf("%s:", name);
    for (auto id : ids) std::printf(" %d", id);
    std::printf("\n");
}

void run(llama_context * context) {
    {
        Scene scene(context);
        scene.fill(100);
        print("cached prefixes everywhere", {scene.begin(100).id, scene.begin(100).id, scene.begin(100).id});
    }
    {
        Scene scene(context);
        scene.fill(100);
        auto & first = scene.begin(100);
        auto * next = scene.sequences.next_to_save();
        print("which is saved next", {first.id, next ? next->id : -1});
    }
    {
        Scene scene(context);
        std::vector<Sequence *> all;
        for (uint32_t i = 0; i < kCount; i++) all.push_back(&scene.begin(100));
        for (uint32_t i = 1; i < kCount; i++) scene.sequences.release(*all[i]);
        all[6]->dispensable = true;
        print("a saved one that leaves a gap", {scene.begin(100).id});
    }
    for (size_t n_tokens : {100, 2'000}) {
        Scene scene(context);
        auto & stays = scene.begin(100);
        scene.sequences.release(scene.begin(n_tokens));
        print("an empty one beyond a cached prefix", {stays.id, scene.begin(100).id});
    }
    {
        Scene scene(context);
        auto & shallow = scene.begin(100);
        auto & deep = scene.begin(2'000);
        for (auto * sequence : {&shallow, &deep}) scene.sequences.release(*sequence);
        print("gaps that are filled: none, a shallow one, a deep one",
              {scene.sequences.can_fill(0, 0), scene.sequences.can_fill(0, 1), scene.sequences.can_fill(1, 2)});
    }
}

}  // namespace

int main(int argc, char ** argv) try {
    if (argc < 3) throw std::runtime_error("usage: sequences-test LIBRARIES MODEL");
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    ggml_backend_load_all_from_path(argv[1]);
    std::unique_ptr<llama_model, decltype(&llama_model_free)> model(
        llama_model_load_from_file(argv[2], llama_model_default_params()), llama_model_free);
    if (!model) throw std::runtime_error("the model cannot be loaded");
    auto params = llama_context_default_params();
    params.n_ctx = 4096 * kCount;
    params.n_seq_max = kCount;
    params.kv_unified = false;
    std::unique_ptr<llama_context, decltype(&llama_free)> context(llama_init_from_model(model.get(), params), llama_free);
    if (!context) throw std::runtime_error("no context");
    run(context.get());
    return 0;
} catch (const std::exception & error) {
    std::fprintf(stderr, "sequences-test: %s\n", error.what());
    return 1;
}
