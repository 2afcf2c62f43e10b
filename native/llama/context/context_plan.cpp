#include "context_plan.h"

#include <algorithm>
#include <thread>

#include <unistd.h>

#include "../../common/status.h"
#include "../model/model.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

constexpr uint32_t kMostCtx = 1u << 24;
constexpr uint32_t kAutoParallel = 8;
// Cells for each parallel job. One of them may take all.
constexpr uint32_t kAutoCtxPerJob = 8192;
// Below this a job's own share of a context that the operator chose is too small for common work, and sharing one buffer serves
// better.
constexpr uint32_t kLeastCtxPerJob = 512;
constexpr uint32_t kMostSequences = 256;  // llama.cpp: LLAMA_MAX_SEQ
constexpr double kAutoMemoryShare = 0.125;

double host_memory(const EngineOptions & options) {
    if (options.host_memory_bytes > 0) return static_cast<double>(options.host_memory_bytes);
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

// Bytes of keys and values of one token, for full attention in every layer (an upper bound for hybrids).
double cell_bytes(const Model & model, const EngineOptions & options) {
    const auto * raw = model.raw();
    const double width = static_cast<double>(llama_model_n_embd(raw)) / std::max(1, llama_model_n_head(raw)) *
                         std::max(1, llama_model_n_head_kv(raw));
    const double key = width * static_cast<double>(ggml_type_size(options.cache_type_k)) /
                       static_cast<double>(ggml_blck_size(options.cache_type_k));
    const double value = width * static_cast<double>(ggml_type_size(options.cache_type_v)) /
                         static_cast<double>(ggml_blck_size(options.cache_type_v));
    return (key + value) * llama_model_n_layer(raw);
}

uint32_t automatic_ctx(const Model & model, const EngineOptions & options, uint32_t n_parallel) {
    const auto n_train = static_cast<uint32_t>(std::max(512, llama_model_n_ctx_train(model.raw())));
    const double shares = static_cast<double>(std::min(n_train, kAutoCtxPerJob)) * n_parallel;
    const double wanted = std::max<double>(shares, n_train);
    const double affordable = host_memory(options) * kAutoMemoryShare / std::max(1.0, cell_bytes(model, options));
    return static_cast<uint32_t>(std::clamp(affordable, 512.0, wanted));
}

// A buffer for each sequence, or one for all? Attention reads a whole buffer, so on its own a sequence decodes faster (1.6 times
// the tokens per CPU second at 32 streams of 300 tokens); in unified KV one long job may use what others leave. Where nobody
// chose the size of the context, a job may be as long as the model's own.
bool is_unified(const Model & model, const EngineOptions & options, uint32_t n_ctx, uint32_t n_parallel) {
    if (options.kv_unified) return *options.kv_unified;
    const auto n_train = static_cast<uint32_t>(std::max(1, llama_model_n_ctx_train(model.raw())));
    return n_ctx / n_parallel < (options.n_ctx ? std::min(n_train, kLeastCtxPerJob) : n_train);
}

}  // namespace

int32_t automatic_threads() {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    return static_cast<int32_t>(cores <= 4 ? cores : cores - 1);
}

void apply_options(llama_context_params & params, const EngineOptions & options) {
    params.n_threads = options.n_threads ? options.n_threads : automatic_threads();
    params.n_threads_batch = options.n_threads_batch ? options.n_threads_batch : params.n_threads;
    params.flash_attn_type = options.flash_attention;
    params.rope_scaling_type = options.rope_scaling;
    params.rope_freq_base = options.rope_freq_base;
    params.rope_freq_scale = options.rope_freq_scale;
    params.yarn_orig_ctx = options.yarn_orig_ctx;
    params.yarn_ext_factor = options.yarn_ext_factor;
    params.yarn_attn_factor = options.yarn_attn_factor;
    params.yarn_beta_slow = options.yarn_beta_slow;
    params.yarn_beta_fast = options.yarn_beta_fast;
    params.offload_kqv = options.kv_on_device;
    params.op_offload = options.op_offload;
    params.no_perf = true;
}

uint32_t n_ctx_usable(const Model & model, const EngineOptions & options) {
    const auto n_train = static_cast<double>(std::max(1, llama_model_n_ctx_train(model.raw())));
    // Learned positions end where training ended.
    if (llama_model_rope_type(model.raw()) == LLAMA_ROPE_TYPE_NONE) return static_cast<uint32_t>(n_train);
    // How far another base reaches is for the operator to know.
    if (options.rope_freq_base > 0) return kMostCtx;
    const double stretch = options.rope_freq_scale > 0 ? std::max(1.0, 1.0 / static_cast<double>(options.rope_freq_scale)) : 1.0;
    return static_cast<uint32_t>(std::min<double>(kMostCtx, n_train * stretch));
}

ContextPlan plan_generation(const Model & model, const EngineOptions & options) {
    if (model.vocab_only())
        throw StatusError("unsupported", "this model was loaded for its vocabulary alone and cannot generate");
    if (!llama_model_has_decoder(model.raw())) throw StatusError("unsupported", "this model only encodes and cannot generate");
    const bool recurrent = llama_model_is_recurrent(model.raw()) || llama_model_is_hybrid(model.raw());
    ContextPlan plan{};
    plan.params = llama_context_default_params();
    auto & params = plan.params;
    plan.n_parallel = options.n_parallel ? options.n_parallel : kAutoParallel;
    params.n_ctx = options.n_ctx ? options.n_ctx : automatic_ctx(model, options, plan.n_parallel);
    params.kv_unified = is_unified(model, options, params.n_ctx, plan.n_parallel);
    plan.sharing = recurrent ? Sharing::None : params.kv_unified ? Sharing::Cells : Sharing::Copies;
    // Sequences beyond the parallel ones cost nothing in unified KV and keep more prefixes.
    plan.n_sequences = plan.sharing == Sharing::Cells ? std::min(kMostSequences, plan.n_parallel * 2) : plan.n_parallel;
    params.n_seq_max = plan.n_sequences;
    params.n_ubatch = options.n_ubatch ? options.n_ubatch : 512;
    params.n_batch = std::max({options.n_batch ? options.n_batch : 2048u, params.n_ubatch, plan.n_parallel});
    // Rejected tokens are taken back, which recurrent state cannot do.
    if (options.speculation != SpeculationMode::Off && !recurrent) {
        plan.n_draft_rows =
            std::clamp(kTuning.draft_rows_per_sequence * plan.n_parallel, kTuning.least_draft_rows, kTuning.most_draft_rows);
        params.n_batch = std::max(params.n_batch, plan.n_parallel + plan.n_draft_rows);
    }
    // llama.cpp reserves a row of logits for every sequence.
    params.n_outputs_max = plan.n_sequences + plan.n_draft_rows;
    apply_options(params, options);
    params.type_k = options.cache_type_k;
    params.type_v = options.cache_type_v;
    // A window-sized cache could not take an earlier prefix up again.
    params.swa_full = true;
    return plan;
}

}  // namespace svc
