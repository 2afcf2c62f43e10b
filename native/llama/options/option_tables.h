// Written by `npm run options` from the tables of ts/server/native/options/; not edited by hand.
// clang-format off

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ggml-cpu.h"
#include "llama.h"
#include "sampler_kind.h"
#include "speculation_mode.h"

namespace svc {

class OptionReader;

// How a token is chosen.
struct SamplingOptions {
    // Randomness; 0 takes the most likely token.
    float temperature = 0.8f;
    // Keeps the most likely tokens up to this total probability.
    float top_p = 0.95f;
    // Keeps this many tokens; 0 or -1 keeps all.
    int32_t top_k = 40;
    // Drops tokens below this share of the best probability.
    float min_p = 0.05f;
    // Locally typical sampling; 1 is off.
    float typical_p = 1.0f;
    // Keeps tokens whose logit is within so many standard deviations of the best; 0 and -1 are off.
    float top_n_sigma = -1.0f;
    // Tokens that top_p, min_p, typical_p and xtc leave at least.
    int32_t min_keep = 0;
    // Which samplers run, in this order; those left out do not. Mirostat, where it is on, takes the place of all.
    std::vector<SamplerKind> samplers = {SamplerKind::Penalties, SamplerKind::Dry, SamplerKind::TopNSigma, SamplerKind::TopK, SamplerKind::Typical, SamplerKind::TopP, SamplerKind::MinP, SamplerKind::Xtc, SamplerKind::Temperature};
    // The temperature moves by so much to both sides, with the entropy of the choice; 0 is off.
    float dynatemp_range = 0.0f;
    // How entropy maps to the temperature where dynatemp_range is set.
    float dynatemp_exponent = 1.0f;
    // Penalty of repeated tokens; 1 is off.
    float repeat_penalty = 1.0f;
    // Tokens that the penalties look back on; -1 is the most.
    int32_t repeat_last_n = 64;
    // Penalty by how often a token occurred.
    float frequency_penalty = 0.0f;
    // Penalty once a token occurred.
    float presence_penalty = 0.0f;
    // DRY penalty of repeated sequences; 0 is off.
    float dry_multiplier = 0.0f;
    // DRY: factor for each further token of a repetition.
    float dry_base = 1.75f;
    // DRY: repetitions up to this many tokens cost nothing.
    int32_t dry_allowed_length = 2;
    // DRY: tokens that are searched for repetitions; -1 is the most.
    int32_t dry_penalty_last_n = 64;
    // DRY: texts that no repetition reaches across.
    std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};
    // Mirostat version; 0 is off.
    int32_t mirostat = 0;
    // Mirostat target entropy.
    float mirostat_tau = 5.0f;
    // Mirostat learning rate.
    float mirostat_eta = 0.1f;
    // Chance of the XTC sampler; 0 is off.
    float xtc_probability = 0.0f;
    // Threshold of the XTC sampler.
    float xtc_threshold = 0.1f;
    // adaptive-p, which runs where `samplers` names it: chooses tokens near this probability; below 0 it does nothing.
    float adaptive_target = -1.0f;
    // adaptive-p: how slowly it forgets the tokens that it has chosen.
    float adaptive_decay = 0.9f;
    // Same seed, same request, same engine: same tokens. -1 is random.
    std::optional<uint32_t> seed;
    // Goes on past the end-of-text token.
    bool ignore_eos = false;
};

// How a model's weights are read and where they lie.
struct LoadSettings {
    // Layers kept in GPU memory; -1: as many as fit there with their part of the context, -2: all. A model that does not fit with them is refused.
    int32_t n_gpu_layers = -1;
    // Maps weights into memory, so that they are read when they are needed and shared with other processes; false reads them at once.
    bool mmap = true;
    // Reads weights past the system's page cache where the file system can; takes the place of mmap.
    bool direct_io = false;
    // Keeps weights from being swapped out, as far as the limit on locked memory allows.
    bool mlock = false;
    // Looks for invalid numbers among the weights while they are read.
    bool check_tensors = false;
    // Rearranges quantised weights for the CPU's kernels, which needs main memory of their size beside the mapped file.
    bool repack = true;
    // Where compute threads run on machines of several NUMA nodes: on all, on the one that the program started on, or as numactl says. Holds for the whole process.
    ggml_numa_strategy numa = GGML_NUMA_STRATEGY_DISABLED;
    // Devices for the weights, as `svc doctor` names them, with commas between; empty: all GPUs, and `none`: the CPU alone.
    std::vector<std::string> devices;
    // How several GPUs share a model: by layers, by rows of the matrices, or not at all.
    llama_split_mode split_mode = LLAMA_SPLIT_MODE_LAYER;
    // The GPU for the whole model where split_mode is none, by its place in the list of devices.
    int32_t main_gpu = 0;
    // Share of each GPU, for example 3,1; empty: by their free memory.
    std::vector<float> tensor_split;
    // Keeps the experts of all layers in main memory.
    bool cpu_moe = false;
    // Keeps the experts of the first so many layers in main memory.
    int32_t n_cpu_moe = 0;
    // PATTERN=BUFFER pairs with commas between: tensors whose name matches the regular expression lie in that buffer (`CPU`, or a device).
    std::vector<std::string> override_tensor;
    // KEY=TYPE:VALUE triples with commas between, TYPE int, float, bool or str: replaces what the model's file says.
    std::vector<std::string> override_kv;
};

// How a context computes, and what may wait for it.
struct EngineOptions {
    // KV cells for all sequences of a model together, tokens; 0 is automatic, and one request may then have all that the model takes.
    uint32_t n_ctx = 0;
    // Sequences that decode at once; 0 is automatic.
    uint32_t n_parallel = 0;
    // Compute threads; 0 is automatic: all cores, less one for the HTTP thread where there are more than 4.
    int32_t n_threads = 0;
    // Compute threads of steps with prompts; 0: as many as inference.threads says.
    int32_t n_threads_batch = 0;
    // Tokens of one logical batch; 0 is automatic.
    uint32_t n_batch = 0;
    // Tokens of one physical batch; 0 is automatic.
    uint32_t n_ubatch = 0;
    // Fused attention kernels.
    llama_flash_attn_type flash_attention = LLAMA_FLASH_ATTN_TYPE_AUTO;
    // Number format of the KV cache, keys.
    ggml_type cache_type_k = GGML_TYPE_F16;
    // Number format of the KV cache, values.
    ggml_type cache_type_v = GGML_TYPE_F16;
    // One KV buffer for all sequences (a long request may use it all), or one for each (many requests decode faster).
    std::optional<bool> kv_unified;
    // Keeps the KV cache of layers that lie on a GPU there; false keeps it in main memory.
    bool kv_on_device = true;
    // Lets a GPU compute large batches with weights that lie in main memory.
    bool op_offload = true;
    // How positions beyond the trained context are scaled; auto: as the model's file says.
    llama_rope_scaling_type rope_scaling = LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED;
    // Base frequency of RoPE; 0: as the model's file says.
    float rope_freq_base = 0.0f;
    // Factor of RoPE's frequencies: 0.25 stretches the context to four times its length; 0: as the model's file says.
    float rope_freq_scale = 0.0f;
    // YaRN: the context that the model was trained with, tokens; 0: as its file says.
    uint32_t yarn_orig_ctx = 0;
    // YaRN: share of extrapolation; -1: as the model's file says.
    float yarn_ext_factor = -1.0f;
    // YaRN: scale of attention; -1: as the model's file says.
    float yarn_attn_factor = -1.0f;
    // YaRN: correction of the slow dimensions; -1: as the model's file says.
    float yarn_beta_slow = -1.0f;
    // YaRN: correction of the fast dimensions; -1: as the model's file says.
    float yarn_beta_fast = -1.0f;
    // How an embedding is made of those of a text's tokens; auto: as the model's file says; their mean where it says nothing or none.
    enum llama_pooling_type pooling = LLAMA_POOLING_TYPE_UNSPECIFIED;
    // Length that embeddings are brought to: 2 Euclidean, 1 taxicab, above that a p-norm, 0 the largest number becomes 32760, -1 as they are.
    int32_t embedding_norm = 2;
    // Memory of each model for chats whose KV cells others needed, so that they go on without evaluating their past again; 0 for none.
    uint64_t kv_offload_memory_bytes = 0;
    // Disk of each model (in data_dir/cache/kv) for what that memory has no room for; 0 for none.
    uint64_t kv_offload_disk_bytes = 0;
    // Folder for saved KV states, until the engine closes.
    std::string kv_offload_folder;
    // Speculative decoding; auto drafts only while that pays, by measurement.
    SpeculationMode speculation = SpeculationMode::Auto;
    // Most tokens drafted at a time for one sequence.
    uint32_t n_draft_max = 16;
    // Requests that may wait for a model, and as many for it to be loaded; more answer 429. 0 is automatic.
    uint32_t max_queued_jobs = 0;
    // Prompt tokens that may wait for a model, and as many for it to be loaded; more answer 429. 0 is automatic.
    uint32_t max_queued_tokens = 0;
    // Longest wait by the measured rate of completions, milliseconds; a job that would wait longer is refused. 0: however long.
    uint32_t max_queue_ms = 0;
    // Main memory that this process may have, of which an automatic context takes a share; 0: all that the machine has.
    uint64_t host_memory_bytes = 0;
};

// What a job says beside its prompt and how it is sampled.
struct JobSettings {
    // Most tokens of one choice; absent: until the context is full.
    int32_t max_tokens = -1;
    // Choices.
    int32_t n = 1;
    // Alternatives reported with each token; absent: no log probabilities.
    int32_t top_logprobs = -1;
    // Where drafts come from: anywhere, nowhere, the job's own tokens, the draft model.
    DraftSource draft_source = DraftSource::Any;
    // Lowers the engine's own limit.
    std::optional<uint32_t> n_draft_max;
    // Reuses cached prefixes of the prompt and leaves one behind.
    bool cache_prompt = true;
    // Higher runs first; 0 is normal.
    int32_t priority = 0;
    // Milliseconds from submit after which the job fails with deadline_exceeded; 0: none.
    int64_t timeout_ms = 0;
};

// Calls each(key below general.sampling, member, least, most) for all that a model's file may set.
template <typename Each> void for_each_metadata(SamplingOptions & to, Each && each) {
    each("temp", to.temperature, 0, 100);
    each("top_p", to.top_p, 0, 1);
    each("top_k", to.top_k, 0, 16777216);
    each("min_p", to.min_p, 0, 1);
    each("penalty_repeat", to.repeat_penalty, 0.01, 100);
    each("penalty_last_n", to.repeat_last_n, 0, 65536);
    each("mirostat", to.mirostat, 0, 2);
    each("mirostat_tau", to.mirostat_tau, 0, 1000);
    each("mirostat_eta", to.mirostat_eta, 0, 1000);
    each("xtc_probability", to.xtc_probability, 0, 1);
    each("xtc_threshold", to.xtc_threshold, 0, 1);
}

void read_table(const OptionReader & from, SamplingOptions & to);
void read_table(const OptionReader & from, LoadSettings & to);
void read_table(const OptionReader & from, EngineOptions & to);
void read_table(const OptionReader & from, JobSettings & to);

}  // namespace svc
