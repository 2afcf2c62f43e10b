// Options as JS gave them, copied once into plain structs and range-checked before anything is queued.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llama.h"
#include "speculation_mode.h"

namespace Napi {
class Object;
}

namespace svc {

struct LoraOption {
    std::string name;
    std::string path;
};

struct LoadOptions {
    std::string path;
    std::string projector_path;
    int32_t n_gpu_layers = -1;
    bool mmap = true;
    bool mlock = false;
    bool vocab_only = false;
    // Everything but the weights is read and a small context is planned: for judging an unknown file.
    bool dry_run = false;
    std::vector<LoraOption> loras;
    std::string chat_template;
};

// Zero means automatic for every count.
struct EngineOptions {
    uint32_t n_ctx = 0;
    uint32_t n_parallel = 0;
    uint32_t n_batch = 0;
    uint32_t n_ubatch = 0;
    int32_t n_threads = 0;
    int32_t n_threads_batch = 0;
    llama_flash_attn_type flash_attention = LLAMA_FLASH_ATTN_TYPE_AUTO;
    ggml_type cache_type_k = GGML_TYPE_F16;
    ggml_type cache_type_v = GGML_TYPE_F16;
    std::optional<bool> kv_unified;  // absent: automatic
    // Saved states of sequences that gave way; 0 bytes of memory: none are saved, 0 on disk: none beyond memory.
    uint64_t kv_tier_memory_bytes = 0;
    uint64_t kv_tier_disk_bytes = 0;
    std::string kv_tier_folder;
    SpeculationMode speculation = SpeculationMode::Auto;
    uint32_t n_draft_max = 16;
    uint32_t max_queued_jobs = 0;
    uint32_t max_queued_tokens = 0;
    uint32_t max_queue_ms = 0;       // 0: however long
    uint64_t host_memory_bytes = 0;  // that the process may have
};

struct PromptOptions {
    enum class Kind { Chat, Text, Tokens };
    Kind kind = Kind::Text;
    std::string messages_json;
    std::string tools_json;
    std::string tool_choice = "auto";
    std::optional<bool> parallel_tool_calls;
    bool enable_thinking = true;
    std::string template_kwargs_json;
    std::string text;
    bool add_special = true;
    std::vector<llama_token> tokens;
};

// Defaults are llama.cpp's (common/common.h, common_params_sampling); a model's file may name others: sampling_defaults().
struct SamplingOptions {
    float temperature = 0.8f;
    int32_t top_k = 40;
    float top_p = 0.95f;
    float min_p = 0.05f;
    float typical_p = 1.0f;
    float repeat_penalty = 1.0f;
    int32_t repeat_last_n = 64;
    float frequency_penalty = 0.0f;
    float presence_penalty = 0.0f;
    int32_t mirostat = 0;
    float mirostat_tau = 5.0f;
    float mirostat_eta = 0.1f;
    float dry_multiplier = 0.0f;
    float xtc_probability = 0.0f;
    float xtc_threshold = 0.1f;
    std::optional<uint32_t> seed;
    bool ignore_eos = false;
};

// Who asks for embeddings or scores.
struct EmbedOptions {
    std::string tenant;
    int64_t timeout_ms = 0;  // 0: none
};

struct JobOptions {
    std::string tenant;
    PromptOptions prompt;
    std::vector<std::string> media;  // the files' bytes
    std::string json_schema;
    std::string grammar;
    int32_t max_tokens = -1;
    int32_t n = 1;
    std::vector<std::string> stop;
    SamplingOptions sampling;
    std::vector<llama_logit_bias> logit_bias;
    int32_t top_logprobs = -1;  // -1: no log probabilities
    std::map<std::string, float> loras;
    DraftSource draft_source = DraftSource::Any;
    std::optional<uint32_t> n_draft_max;  // absent: the engine's
    bool cache_prompt = true;
    int32_t priority = 0;
    int64_t timeout_ms = 0;  // 0: none
};

// Each throws StatusError invalid_argument that names the member.
LoadOptions load_options(const Napi::Object & from);
EngineOptions engine_options(const Napi::Object & from);
// `sampling`: what holds where the job names nothing.
JobOptions job_options(const Napi::Object & from, const SamplingOptions & sampling);
EmbedOptions embed_options(const Napi::Object & from);
PromptOptions prompt_options(const Napi::Object & from);

}  // namespace svc
