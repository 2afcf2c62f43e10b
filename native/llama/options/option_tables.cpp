// Written by `npm run options` from the tables of ts/server/native/options/; not edited by hand.
// clang-format off

#include "option_tables.h"

#include "../../common/option_reader.h"

namespace svc {

void read_table(const OptionReader & from, SamplingOptions & to) {
    from.number("temperature", to.temperature, 0, 100);
    from.number("topP", to.top_p, 0, 1);
    from.integer("topK", to.top_k, 0, 16777216);
    from.number("minP", to.min_p, 0, 1);
    from.number("typicalP", to.typical_p, 0, 1);
    from.number("topNSigma", to.top_n_sigma, -1, 100);
    from.integer("minKeep", to.min_keep, 0, 65536);
    from.choices<SamplerKind>("samplers", to.samplers, {{"penalties", SamplerKind::Penalties}, {"dry", SamplerKind::Dry}, {"top_n_sigma", SamplerKind::TopNSigma}, {"top_k", SamplerKind::TopK}, {"typ_p", SamplerKind::Typical}, {"top_p", SamplerKind::TopP}, {"min_p", SamplerKind::MinP}, {"xtc", SamplerKind::Xtc}, {"temperature", SamplerKind::Temperature}, {"adaptive_p", SamplerKind::AdaptiveP}});
    from.number("dynatempRange", to.dynatemp_range, 0, 100);
    from.number("dynatempExponent", to.dynatemp_exponent, 0, 100);
    from.number("repeatPenalty", to.repeat_penalty, 0.01, 100);
    from.integer("repeatLastN", to.repeat_last_n, 0, 65536);
    from.number("frequencyPenalty", to.frequency_penalty, -100, 100);
    from.number("presencePenalty", to.presence_penalty, -100, 100);
    from.number("dryMultiplier", to.dry_multiplier, 0, 100);
    from.number("dryBase", to.dry_base, 1, 100);
    from.integer("dryAllowedLength", to.dry_allowed_length, 0, 65536);
    from.integer("dryPenaltyLastN", to.dry_penalty_last_n, 0, 65536);
    from.texts("drySequenceBreakers", to.dry_sequence_breakers, 64, 256);
    from.integer("mirostat", to.mirostat, 0, 2);
    from.number("mirostatTau", to.mirostat_tau, 0, 1000);
    from.number("mirostatEta", to.mirostat_eta, 0, 1000);
    from.number("xtcProbability", to.xtc_probability, 0, 1);
    from.number("xtcThreshold", to.xtc_threshold, 0, 1);
    from.number("adaptiveTarget", to.adaptive_target, -1, 1);
    from.number("adaptiveDecay", to.adaptive_decay, 0, 0.99);
    if (from.has("seed")) from.integer("seed", to.seed.emplace(), 0, 4294967295.0);
    from.boolean("ignoreEos", to.ignore_eos);
}

void read_table(const OptionReader & from, LoadSettings & to) {
    from.integer("nGpuLayers", to.n_gpu_layers, -2, 100000);
    from.boolean("mmap", to.mmap);
    from.boolean("directIo", to.direct_io);
    from.boolean("mlock", to.mlock);
    from.boolean("checkTensors", to.check_tensors);
    from.boolean("repack", to.repack);
    from.choice<ggml_numa_strategy>("numa", to.numa, {{"off", GGML_NUMA_STRATEGY_DISABLED}, {"distribute", GGML_NUMA_STRATEGY_DISTRIBUTE}, {"isolate", GGML_NUMA_STRATEGY_ISOLATE}, {"numactl", GGML_NUMA_STRATEGY_NUMACTL}});
    from.texts("devices", to.devices, 64, 128);
    from.choice<llama_split_mode>("splitMode", to.split_mode, {{"none", LLAMA_SPLIT_MODE_NONE}, {"layer", LLAMA_SPLIT_MODE_LAYER}, {"row", LLAMA_SPLIT_MODE_ROW}});
    from.integer("mainGpu", to.main_gpu, 0, 63);
    from.numbers("tensorSplit", to.tensor_split, 16, 0, 1000000);
    from.boolean("cpuMoe", to.cpu_moe);
    from.integer("nCpuMoe", to.n_cpu_moe, 0, 10000);
    from.texts("overrideTensor", to.override_tensor, 64, 256);
    from.texts("overrideKv", to.override_kv, 64, 256);
}

void read_table(const OptionReader & from, EngineOptions & to) {
    from.integer("nCtx", to.n_ctx, 0, 16777216);
    from.integer("nParallel", to.n_parallel, 0, 256);
    from.integer("nThreads", to.n_threads, 0, 1024);
    from.integer("nThreadsBatch", to.n_threads_batch, 0, 1024);
    from.integer("nBatch", to.n_batch, 0, 65536);
    from.integer("nUbatch", to.n_ubatch, 0, 65536);
    from.choice<llama_flash_attn_type>("flashAttention", to.flash_attention, {{"auto", LLAMA_FLASH_ATTN_TYPE_AUTO}, {"on", LLAMA_FLASH_ATTN_TYPE_ENABLED}, {"off", LLAMA_FLASH_ATTN_TYPE_DISABLED}});
    from.choice<ggml_type>("cacheTypeK", to.cache_type_k, {{"f32", GGML_TYPE_F32}, {"f16", GGML_TYPE_F16}, {"bf16", GGML_TYPE_BF16}, {"q8_0", GGML_TYPE_Q8_0}, {"q4_0", GGML_TYPE_Q4_0}, {"q4_1", GGML_TYPE_Q4_1}, {"iq4_nl", GGML_TYPE_IQ4_NL}, {"q5_0", GGML_TYPE_Q5_0}, {"q5_1", GGML_TYPE_Q5_1}});
    from.choice<ggml_type>("cacheTypeV", to.cache_type_v, {{"f32", GGML_TYPE_F32}, {"f16", GGML_TYPE_F16}, {"bf16", GGML_TYPE_BF16}, {"q8_0", GGML_TYPE_Q8_0}, {"q4_0", GGML_TYPE_Q4_0}, {"q4_1", GGML_TYPE_Q4_1}, {"iq4_nl", GGML_TYPE_IQ4_NL}, {"q5_0", GGML_TYPE_Q5_0}, {"q5_1", GGML_TYPE_Q5_1}});
    if (from.has("kvUnified")) from.boolean("kvUnified", to.kv_unified.emplace());
    from.boolean("kvOnDevice", to.kv_on_device);
    from.boolean("opOffload", to.op_offload);
    from.choice<llama_rope_scaling_type>("ropeScaling", to.rope_scaling, {{"auto", LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED}, {"none", LLAMA_ROPE_SCALING_TYPE_NONE}, {"linear", LLAMA_ROPE_SCALING_TYPE_LINEAR}, {"yarn", LLAMA_ROPE_SCALING_TYPE_YARN}});
    from.number("ropeFreqBase", to.rope_freq_base, 0, 1000000000000.0);
    from.number("ropeFreqScale", to.rope_freq_scale, 0, 1000000);
    from.integer("yarnOrigCtx", to.yarn_orig_ctx, 0, 16777216);
    from.number("yarnExtFactor", to.yarn_ext_factor, -1, 1000000);
    from.number("yarnAttnFactor", to.yarn_attn_factor, -1, 1000000);
    from.number("yarnBetaSlow", to.yarn_beta_slow, -1, 1000000);
    from.number("yarnBetaFast", to.yarn_beta_fast, -1, 1000000);
    from.choice<enum llama_pooling_type>("pooling", to.pooling, {{"auto", LLAMA_POOLING_TYPE_UNSPECIFIED}, {"mean", LLAMA_POOLING_TYPE_MEAN}, {"cls", LLAMA_POOLING_TYPE_CLS}, {"last", LLAMA_POOLING_TYPE_LAST}});
    from.integer("embeddingNorm", to.embedding_norm, -1, 32);
    from.integer("kvOffloadMemoryBytes", to.kv_offload_memory_bytes, 0, 1000000000000000.0);
    from.integer("kvOffloadDiskBytes", to.kv_offload_disk_bytes, 0, 1000000000000000.0);
    from.string("kvOffloadFolder", to.kv_offload_folder);
    from.choice<SpeculationMode>("speculation", to.speculation, {{"auto", SpeculationMode::Auto}, {"always", SpeculationMode::Always}, {"off", SpeculationMode::Off}});
    from.integer("nDraftMax", to.n_draft_max, 0, 64);
    from.integer("maxQueuedJobs", to.max_queued_jobs, 0, 1000000);
    from.integer("maxQueuedTokens", to.max_queued_tokens, 0, 2147483647);
    from.integer("maxQueueMs", to.max_queue_ms, 0, 86400000);
    from.integer("hostMemoryBytes", to.host_memory_bytes, 0, 1000000000000000.0);
}

void read_table(const OptionReader & from, JobSettings & to) {
    from.integer("maxTokens", to.max_tokens, 1, 16777216);
    from.integer("n", to.n, 1, 128);
    from.integer("topLogprobs", to.top_logprobs, 0, 20);
    from.choice<DraftSource>("draftSource", to.draft_source, {{"any", DraftSource::Any}, {"none", DraftSource::None}, {"ngram", DraftSource::Ngrams}, {"model", DraftSource::Model}});
    if (from.has("nDraftMax")) from.integer("nDraftMax", to.n_draft_max.emplace(), 0, 64);
    from.boolean("cachePrompt", to.cache_prompt);
    from.integer("priority", to.priority, -1000, 1000);
    from.integer("timeoutMs", to.timeout_ms, 0, 31536000000.0);
}

}  // namespace svc
