#include "options.h"

#include <algorithm>
#include <string>

#include "../../common/option_reader.h"
#include "../../common/status.h"
#include "../text/stop_search.h"

namespace svc {

namespace {

constexpr double kMaxTokens = 1 << 24;
constexpr double kMaxFloat = 1e6;
constexpr double kMostTimeoutMs = 86400000.0 * 365;

Napi::Object as_object(const Napi::Value & value, const char * name) {
    if (!value.IsObject()) OptionReader::refuse(name, "an object");
    return value.As<Napi::Object>();
}

// Projectors compute with areas and proportions; upstream ends the process where these overflow.
constexpr double kMostSidePixels = 8192;
constexpr uint32_t kMostSideRatio = 200;

std::string bytes_of(const OptionReader & from, const char * name) {
    std::string bytes;
    if (!from.has(name)) OptionReader::refuse(name, "bytes");
    from.text(name, bytes);
    return bytes;
}

MediaOption image_of(const OptionReader & from) {
    MediaOption to;
    from.integer("width", to.width, 1, kMostSidePixels);
    from.integer("height", to.height, 1, kMostSidePixels);
    to.bytes = bytes_of(from, "pixels");
    if (to.bytes.empty() || to.bytes.size() != size_t{3} * to.width * to.height)
        OptionReader::refuse("pixels", "three bytes for each pixel of width and height");
    if (std::max(to.width, to.height) > kMostSideRatio * std::min(to.width, to.height))
        OptionReader::refuse("width", "at most " + std::to_string(kMostSideRatio) + " times the height, or the other way round");
    return to;
}

MediaOption sound_of(const OptionReader & from) {
    MediaOption to;
    to.is_audio = true;
    to.bytes = bytes_of(from, "samples");
    if (to.bytes.empty() || to.bytes.size() % sizeof(float) != 0) OptionReader::refuse("samples", "four bytes for each sample");
    return to;
}

MediaOption media_of(const Napi::Value & value) {
    auto object = as_object(value, "media");
    const OptionReader from(object);
    std::string kind;
    from.string("kind", kind);
    if (kind == "image") return image_of(from);
    if (kind == "audio") return sound_of(from);
    OptionReader::refuse("media.kind", "one of image, audio");
}

// Prefixes, grammars and shares belong to a tenant: work of nobody's would be shared among all who forgot to say.
std::string tenant_of(const OptionReader & reader) {
    std::string tenant;
    reader.string("tenant", tenant);
    // A key that is made of a tenant and more has a zero byte behind it.
    if (tenant.empty() || tenant.find('\0') != std::string::npos) OptionReader::refuse("tenant", "the name of a tenant");
    return tenant;
}

SamplingOptions sampling_options(const OptionReader & job, SamplingOptions to) {
    if (!job.has("sampling")) return to;
    auto object = job.object("sampling");
    OptionReader from(object);
    read_table(from, to);
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
    read_table(reader, static_cast<LoadSettings &>(to));
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
    read_table(reader, to);
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
    to.tenant = tenant_of(reader);
    reader.integer("timeoutMs", to.timeout_ms, 0, kMostTimeoutMs);
    reader.boolean("isBackground", to.is_background);
    reader.boolean("truncate", to.truncates);
    return to;
}

JobOptions job_options(const Napi::Object & from, const SamplingOptions & sampling) {
    OptionReader reader(from);
    JobOptions to;
    to.tenant = tenant_of(reader);
    to.prompt = prompt_options(reader.object("prompt"));
    reader.array("media", 64, [&](const Napi::Value & value) { to.media.push_back(media_of(value)); });
    reader.text("jsonSchema", to.json_schema);
    reader.text("toolSchemas", to.tool_schemas);
    reader.text("grammar", to.grammar);
    reader.array("stop", 64, [&](const Napi::Value & value) {
        if (!value.IsString()) OptionReader::refuse("stop", "an array of strings");
        auto text = value.As<Napi::String>().Utf8Value();
        if (text.size() > StopSearch::kMostBytes)
            OptionReader::refuse("stop", "strings of at most " + std::to_string(StopSearch::kMostBytes) + " bytes");
        if (!text.empty()) to.stop.push_back(std::move(text));
    });
    to.sampling = sampling_options(reader, sampling);
    reader.array("logitBias", 100000, [&](const Napi::Value & value) { to.logit_bias.push_back(bias_of(value)); });
    reader.array("loras", 64, [&](const Napi::Value & value) {
        auto object = as_object(value, "loras");
        OptionReader lora(object);
        std::string name;
        float scale = 1.0f;
        lora.string("name", name);
        lora.number("scale", scale, -kMaxFloat, kMaxFloat);
        to.loras[name] = scale;
    });
    read_table(reader, static_cast<JobSettings &>(to));
    return to;
}

}  // namespace svc
