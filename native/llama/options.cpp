#include "options.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "../common/option_reader.h"
#include "../common/status.h"
#include "stop_search.h"

namespace svc {

namespace {

constexpr double kMaxTokens = 1 << 24;
constexpr double kMaxFloat = 1e6;
constexpr double kMostBytes = 1e15;
constexpr double kMostTimeoutMs = 86400000.0 * 365;

Napi::Object as_object(const Napi::Value & value, const char * name) {
    if (!value.IsObject()) OptionReader::refuse(name, "an object");
    return value.As<Napi::Object>();
}

// The value of the choice that the member names, or that `usual` does where it is absent.
template <typename T>
T one_of(const OptionReader & reader, const char * name, const char * usual,
         std::initializer_list<std::pair<const char *, T>> all) {
    std::string text = usual;
    reader.string(name, text);
    std::string names;
    for (const auto & [choice, value] : all) {
        if (text == choice) return value;
        names += (names.empty() ? "one of " : ", ") + std::string(choice);
    }
    OptionReader::refuse(name, names.c_str());
}

ggml_type cache_type(const OptionReader & reader, const char * name) {
    return one_of<ggml_type>(reader, name, "f16",
                             {{"f32", GGML_TYPE_F32},
                              {"f16", GGML_TYPE_F16},
                              {"bf16", GGML_TYPE_BF16},
                              {"q8_0", GGML_TYPE_Q8_0},
                              {"q5_1", GGML_TYPE_Q5_1},
                              {"q5_0", GGML_TYPE_Q5_0},
                              {"q4_1", GGML_TYPE_Q4_1},
                              {"q4_0", GGML_TYPE_Q4_0},
                              {"iq4_nl", GGML_TYPE_IQ4_NL}});
}

llama_flash_attn_type flash_attention(const OptionReader & reader) {
    return one_of<llama_flash_attn_type>(
        reader, "flashAttention", "auto",
        {{"auto", LLAMA_FLASH_ATTN_TYPE_AUTO}, {"on", LLAMA_FLASH_ATTN_TYPE_ENABLED}, {"off", LLAMA_FLASH_ATTN_TYPE_DISABLED}});
}

SpeculationMode speculation_mode(const OptionReader & reader) {
    using Mode = SpeculationMode;
    return one_of<Mode>(reader, "speculation", "auto", {{"auto", Mode::Auto}, {"always", Mode::Always}, {"off", Mode::Off}});
}

DraftSource draft_source(const OptionReader & reader) {
    using Source = DraftSource;
    return one_of<Source>(reader, "draftSource", "any",
                          {{"any", Source::Any}, {"none", Source::None}, {"ngram", Source::Ngrams}, {"model", Source::Model}});
}

std::string file_of(const Napi::Value & value) {
    if (value.IsString()) OptionReader::refuse("media", "an array of files' bytes");
    return StagedBytes::take(value, "media");
}

SamplingOptions sampling_options(const OptionReader & job, SamplingOptions to) {
    if (!job.has("sampling")) return to;
    auto object = job.object("sampling");
    OptionReader from(object);
    from.number("temperature", to.temperature, 0, 100);
    from.integer("topK", to.top_k, 0, kMaxTokens);
    from.number("topP", to.top_p, 0, 1);
    from.number("minP", to.min_p, 0, 1);
    from.number("typicalP", to.typical_p, 0, 1);
    from.number("repeatPenalty", to.repeat_penalty, 0.01, 100);
    from.integer("repeatLastN", to.repeat_last_n, 0, kMaxTokens);
    from.number("frequencyPenalty", to.frequency_penalty, -100, 100);
    from.number("presencePenalty", to.presence_penalty, -100, 100);
    from.integer("mirostat", to.mirostat, 0, 2);
    from.number("mirostatTau", to.mirostat_tau, 0, kMaxFloat);
    from.number("mirostatEta", to.mirostat_eta, 0, kMaxFloat);
    from.number("dryMultiplier", to.dry_multiplier, 0, kMaxFloat);
    from.number("xtcProbability", to.xtc_probability, 0, 1);
    from.number("xtcThreshold", to.xtc_threshold, 0, 1);
    from.boolean("ignoreEos", to.ignore_eos);
    if (from.has("seed")) from.integer("seed", to.seed.emplace(), 0, 4294967295.0);
    return to;
}

llama_logit_bias bias_of(const Napi::Value & value) {
    if (!value.IsArray() || value.As<Napi::Array>().Length() != 2) OptionReader::refuse("logitBias", "pairs of token and bias");
    auto pair = value.As<Napi::Array>();
    if (!pair.Get(0u).IsNumber() || !pair.Get(1u).IsNumber()) OptionReader::refuse("logitBias", "pairs of numbers");
    double token = pair.Get(0u).As<Napi::Number>().DoubleValue();
    double bias = pair.Get(1u).As<Napi::Number>().DoubleValue();
    if (!(token >= 0 && token <= kMaxTokens) || std::isnan(bias)) OptionReader::refuse("logitBias", "pairs of token and bias");
    return {static_cast<llama_token>(token), static_cast<float>(bias)};
}

}  // namespace

LoadOptions load_options(const Napi::Object & from) {
    OptionReader reader(from);
    LoadOptions to;
    reader.string("path", to.path);
    if (to.path.empty()) OptionReader::refuse("path", "the path of a GGUF file");
    reader.string("projectorPath", to.projector_path);
    reader.integer("nGpuLayers", to.n_gpu_layers, -1, 100000);
    reader.boolean("mmap", to.mmap);
    reader.boolean("mlock", to.mlock);
    reader.boolean("vocabOnly", to.vocab_only);
    reader.boolean("dryRun", to.dry_run);
    reader.string("chatTemplate", to.chat_template);
    reader.array("loras", 64, [&](const Napi::Value & value) {
        auto object = as_object(value, "loras");
        OptionReader lora(object);
        auto & added = to.loras.emplace_back();
        lora.string("name", added.name);
        lora.string("path", added.path);
    });
    return to;
}

EngineOptions engine_options(const Napi::Object & from) {
    OptionReader reader(from);
    EngineOptions to;
    reader.integer("nCtx", to.n_ctx, 0, kMaxTokens);
    reader.integer("nParallel", to.n_parallel, 0, 256);
    reader.integer("nBatch", to.n_batch, 0, 65536);
    reader.integer("nUbatch", to.n_ubatch, 0, 65536);
    reader.integer("nThreads", to.n_threads, 0, 1024);
    reader.integer("nThreadsBatch", to.n_threads_batch, 0, 1024);
    if (reader.has("kvUnified")) reader.boolean("kvUnified", to.kv_unified.emplace());
    reader.integer("kvOffloadMemoryBytes", to.kv_tier_memory_bytes, 0, kMostBytes);
    reader.integer("kvOffloadDiskBytes", to.kv_tier_disk_bytes, 0, kMostBytes);
    reader.string("kvOffloadFolder", to.kv_tier_folder);
    to.speculation = speculation_mode(reader);
    reader.integer("nDraftMax", to.n_draft_max, 0, 64);
    reader.integer("maxQueuedJobs", to.max_queued_jobs, 0, kMaxTokens);
    reader.integer("maxQueuedTokens", to.max_queued_tokens, 0, 4e9);
    reader.integer("maxQueueMs", to.max_queue_ms, 0, 86400000.0);
    reader.integer("hostMemoryBytes", to.host_memory_bytes, 0, kMostBytes);
    to.flash_attention = flash_attention(reader);
    to.cache_type_k = cache_type(reader, "cacheTypeK");
    to.cache_type_v = cache_type(reader, "cacheTypeV");
    return to;
}

PromptOptions prompt_options(const Napi::Object & from) {
    OptionReader reader(from);
    PromptOptions to;
    std::string kind;
    reader.string("kind", kind);
    if (kind == "tokens") {
        to.kind = PromptOptions::Kind::Tokens;
        auto value = from.Get("tokens");
        if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
            OptionReader::refuse("prompt.tokens", "an Int32Array");
        }
        auto array = value.As<Napi::Int32Array>();
        to.tokens.assign(array.Data(), array.Data() + array.ElementLength());
    } else if (kind == "text") {
        reader.text("text", to.text);
        reader.boolean("addSpecial", to.add_special);
    } else if (kind == "chat") {
        to.kind = PromptOptions::Kind::Chat;
        reader.text("messagesJson", to.messages_json);
        reader.text("toolsJson", to.tools_json);
        reader.string("toolChoice", to.tool_choice);
        if (reader.has("parallelToolCalls")) reader.boolean("parallelToolCalls", to.parallel_tool_calls.emplace());
        reader.boolean("enableThinking", to.enable_thinking);
        reader.text("templateKwargsJson", to.template_kwargs_json);
    } else {
        OptionReader::refuse("prompt.kind", "one of chat, text, tokens");
    }
    return to;
}

EmbedOptions embed_options(const Napi::Object & from) {
    const OptionReader reader(from);
    EmbedOptions to;
    reader.string("tenant", to.tenant);
    reader.integer("timeoutMs", to.timeout_ms, 0, kMostTimeoutMs);
    return to;
}

JobOptions job_options(const Napi::Object & from, const SamplingOptions & sampling) {
    OptionReader reader(from);
    JobOptions to;
    reader.string("tenant", to.tenant);
    to.prompt = prompt_options(reader.object("prompt"));
    reader.array("media", 64, [&](const Napi::Value & value) { to.media.push_back(file_of(value)); });
    reader.text("jsonSchema", to.json_schema);
    reader.text("grammar", to.grammar);
    reader.integer("maxTokens", to.max_tokens, 1, kMaxTokens);
    reader.integer("n", to.n, 1, 128);
    reader.array("stop", 64, [&](const Napi::Value & value) {
        if (!value.IsString()) OptionReader::refuse("stop", "an array of strings");
        auto text = value.As<Napi::String>().Utf8Value();
        if (text.size() > StopSearch::kMostBytes)
            OptionReader::refuse("stop", "strings of at most " + std::to_string(StopSearch::kMostBytes) + " bytes");
        if (!text.empty()) to.stop.push_back(std::move(text));
    });
    to.sampling = sampling_options(reader, sampling);
    reader.array("logitBias", 100000, [&](const Napi::Value & value) { to.logit_bias.push_back(bias_of(value)); });
    reader.integer("topLogprobs", to.top_logprobs, 0, 20);
    reader.array("loras", 64, [&](const Napi::Value & value) {
        auto object = as_object(value, "loras");
        OptionReader lora(object);
        std::string name;
        float scale = 1.0f;
        lora.string("name", name);
        lora.number("scale", scale, -kMaxFloat, kMaxFloat);
        to.loras[name] = scale;
    });
    to.draft_source = draft_source(reader);
    if (reader.has("nDraftMax")) reader.integer("nDraftMax", to.n_draft_max.emplace(), 0, 64);
    reader.boolean("cachePrompt", to.cache_prompt);
    reader.integer("priority", to.priority, -1000, 1000);
    reader.integer("timeoutMs", to.timeout_ms, 0, kMostTimeoutMs);
    return to;
}

}  // namespace svc
