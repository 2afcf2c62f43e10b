// sequences-test LIBRARIES MODEL WINDOWED_MODEL: which sequences Sequences gives out when others hold cached prefixes. Prints a
// line for each scene: its name, and the ids or answers.
#include "../kv/sequences.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "ggml-backend.h"

namespace {

using svc::Sequence;
using svc::Sequences;

constexpr uint32_t kCount = 8;
constexpr uint32_t kWindow = 24;  // of the model that has one
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

// Sequences whose tokens are evaluated.
struct Cache {
    Cache(llama_context * context, uint32_t n_sequences, svc::Sharing sharing, uint32_t n_window)
        : context(context), sequences(context, {n_sequences, llama_n_ctx(context), sharing, n_window, true, 1}) {}

    // Two sequences of a cache whose copies lack what has left an attention window: llama.cpp copies them whole.
    static Cache copied_whole(llama_context * context) { return {context, 2, svc::Sharing::Copies, 64}; }

    static std::vector<llama_token> words(llama_token first, size_t n_tokens) {
        std::vector<llama_token> tokens(n_tokens);
        std::iota(tokens.begin(), tokens.end(), first);
        return tokens;
    }

    // Evaluates the tokens behind what the sequence holds. Returns the logits of the last one.
    std::vector<float> evaluate(Sequence & sequence, const std::vector<llama_token> & tokens) {
        auto batch = llama_batch_init(static_cast<int32_t>(tokens.size()), 0, 1);
        for (size_t i = 0; i < tokens.size(); i++) {
            batch.token[i] = tokens[i];
            batch.pos[i] = sequence.n_pos + static_cast<llama_pos>(i);
            batch.n_seq_id[i] = 1;
            batch.seq_id[i][0] = sequence.id;
            batch.logits[i] = i + 1 == tokens.size();
        }
        batch.n_tokens = static_cast<int32_t>(tokens.size());
        const int32_t result = llama_decode(context, batch);
        llama_batch_free(batch);
        if (result != 0) throw std::runtime_error("the batch could not be evaluated");
        sequences.append(sequence, tokens.data(), tokens.size(), sequence.n_pos + static_cast<llama_pos>(tokens.size()));
        const auto * logits = llama_get_logits_ith(context, static_cast<int32_t>(tokens.size()) - 1);
        return {logits, logits + llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)))};
    }

    // The state of a sequence that holds these tokens; null where it is not saved. The sequence is forgotten.
    std::shared_ptr<const svc::KvState> save(Sequence & sequence) {
        std::shared_ptr<const svc::KvState> state;
        sequences.release(sequence);
        sequences.save(sequence, SIZE_MAX, [&](auto saved) { state = std::move(saved); });
        sequences.copier().advance(std::chrono::steady_clock::time_point::max());
        while (sequences.evict()) {
        }
        return state;
    }

    Sequence & begin(const std::string & tenant) { return *sequences.acquire(tenant, nullptr, 0, true); }

    llama_context * context;
    Sequences sequences;
};

float largest_difference(const std::vector<float> & a, const std::vector<float> & b) {
    float largest = 0;
    for (size_t i = 0; i < a.size(); i++) largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
}

// A copied prefix is its source's, even when the source is given to another tenant before anything is evaluated.
bool is_copied_before_the_source_goes(llama_context * context) {
    auto cache = Cache::copied_whole(context);
    constexpr size_t n_shared = 40;
    const auto prefix = Cache::words(300, 100);
    const auto foreign = Cache::words(5000, 100);
    const auto next = Cache::words(9000, 1);

    auto & alone = cache.begin("alone");
    cache.evaluate(alone, {prefix.begin(), prefix.begin() + n_shared});
    const auto expected = cache.evaluate(alone, next);
    cache.save(alone);
    auto & other = cache.begin("b");
    cache.evaluate(other, foreign);
    const auto saved = cache.save(other);

    auto & source = cache.begin("a");
    cache.evaluate(source, prefix);
    cache.sequences.release(source);
    auto & target = *cache.sequences.acquire("a", &source, n_shared, true);
    auto & taken = cache.begin("b");
    if (&target == &source || &taken != &source) throw std::runtime_error("the scene is another one");
    cache.sequences.restore(taken, foreign, saved, foreign.size());
    cache.sequences.copier().advance(std::chrono::steady_clock::time_point::max());
    // Batches of other shapes differ in their last digits; another tenant's tokens would make it whole units.
    return largest_difference(cache.evaluate(target, next), expected) < 0.1f;
}

// What was copied is saved like everything else.
bool is_copy_saved(llama_context * context) {
    auto cache = Cache::copied_whole(context);
    auto & source = cache.begin("a");
    cache.evaluate(source, Cache::words(300, 100));
    cache.sequences.release(source);
    return cache.save(*cache.sequences.acquire("a", &source, 40, true)) != nullptr;
}

constexpr size_t kLong = 100;  // longer than the window

// What evaluating `next` behind the first tokens comes to in a cache that has held nothing else.
std::vector<float> evaluated_alone(llama_context * context, const std::vector<llama_token> & tokens, llama_token next) {
    llama_memory_clear(llama_get_memory(context), false);
    auto cache = Cache(context, 3, svc::Sharing::Cells, kWindow);
    auto & sequence = cache.begin("alone");
    cache.evaluate(sequence, tokens);
    const auto logits = cache.evaluate(sequence, {next});
    llama_memory_clear(llama_get_memory(context), false);
    return logits;
}

// A save is under way while `interfere` evaluates other tokens. What it saved, if anything, is the state of the saved tokens:
// they are restored, the last one is cut off and evaluated again.
template <typename Interfere> bool is_save_whole(llama_context * context, Interfere && interfere) {
    const auto tokens = Cache::words(300, kLong);
    const auto expected = evaluated_alone(context, {tokens.begin(), tokens.end() - 1}, tokens.back());
    Cache cache(context, 3, svc::Sharing::Cells, kWindow);
    auto & saved = cache.begin("a");
    cache.evaluate(saved, tokens);
    cache.sequences.release(saved);
    std::shared_ptr<const svc::KvState> state;
    if (!cache.sequences.save(saved, SIZE_MAX, [&](auto done) { state = std::move(done); }))
        throw std::runtime_error("the sequence cannot be saved");
    interfere(cache, saved);
    cache.sequences.copier().advance(std::chrono::steady_clock::time_point::max());
    if (!state) return true;
    while (cache.sequences.evict()) {
    }
    auto & restored = cache.begin("a");
    cache.sequences.restore(restored, tokens, state, tokens.size());
    cache.sequences.copier().advance(std::chrono::steady_clock::time_point::max());
    cache.sequences.release(restored);
    size_t n_common = 0;
    auto * source = cache.sequences.find_prefix("a", tokens, kLong - 1, n_common);
    auto & again = *cache.sequences.acquire("a", source, n_common, true);
    return largest_difference(cache.evaluate(again, {tokens.begin() + static_cast<std::ptrdiff_t>(n_common), tokens.end()}),
                              expected) < 0.1f;
}

void run_windowed(llama_context * context) {
    print("a save beside nothing is whole", {is_save_whole(context, [](Cache &, Sequence &) {})});
    print("a save beside the next turn is whole", {is_save_whole(context, [](Cache & cache, Sequence & saved) {
              auto & next = *cache.sequences.acquire("a", &saved, kLong, true);
              cache.evaluate(next, Cache::words(5'000, 3 * kLong));
              cache.sequences.release(next);
          })});
    print("a save beside another tenant is whole", {is_save_whole(context, [](Cache & cache, Sequence & saved) {
              saved.busy = true;  // it is not the one that gives way
              auto & other = cache.begin("b");
              cache.evaluate(other, Cache::words(9'000, 3 * kLong));
              cache.sequences.release(other);
              saved.busy = false;
          })});
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
        all[6]->evictable = true;
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
    llama_memory_clear(llama_get_memory(context), false);
    print("a source that goes to another tenant has been copied", {is_copied_before_the_source_goes(context)});
    llama_memory_clear(llama_get_memory(context), false);
    print("a copy can be saved", {is_copy_saved(context)});
}

using Model = std::unique_ptr<llama_model, decltype(&llama_model_free)>;

Model load(const char * path) {
    Model model(llama_model_load_from_file(path, llama_model_default_params()), llama_model_free);
    if (!model) throw std::runtime_error("the model cannot be loaded");
    return model;
}

void with_context(const char * path, const llama_context_params & params, void (*run)(llama_context *)) {
    const auto model = load(path);
    std::unique_ptr<llama_context, decltype(&llama_free)> context(llama_init_from_model(model.get(), params), llama_free);
    if (!context) throw std::runtime_error("no context");
    run(context.get());
}

}  // namespace

int main(int argc, char ** argv) try {
    if (argc < 4) throw std::runtime_error("usage: sequences-test LIBRARIES MODEL WINDOWED_MODEL");
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    ggml_backend_load_all_from_path(argv[1]);
    auto params = llama_context_default_params();
    params.n_ctx = 4096 * kCount;
    params.n_seq_max = kCount;
    params.kv_unified = false;
    with_context(argv[2], params, run);
    params.n_ctx = 2048;
    params.n_seq_max = 3;
    params.n_ubatch = 32;
    params.kv_unified = true;
    params.swa_full = false;
    with_context(argv[3], params, run_windowed);
    return 0;
} catch (const std::exception & error) {
    std::fprintf(stderr, "sequences-test: %s\n", error.what());
    return 1;
}
