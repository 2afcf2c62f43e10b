// Options as JS gave them, copied once into plain structs and range-checked before anything is queued. What is plain about them
// comes from the tables that option_tables.h is written from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llama.h"
#include "option_tables.h"

namespace Napi {
class Object;
}

namespace svc {

struct LoraOption {
    std::string name;
    std::string path;
};

struct LoadOptions : LoadSettings {
    std::string path;
    std::string projector_path;
    bool vocab_only = false;
    // Everything but the weights is read and a small context is planned: for judging an unknown file.
    bool dry_run = false;
    std::vector<LoraOption> loras;
    std::string chat_template;
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

// Who asks for embeddings or scores.
struct EmbedOptions {
    std::string tenant;
    int64_t timeout_ms = 0;  // 0: none
    bool is_background = false;
    bool truncates = false;
};

// An image as pixels or a sound as samples: whoever decodes files does so elsewhere.
struct MediaOption {
    bool is_audio = false;
    uint32_t width = 0;  // pixels
    uint32_t height = 0;
    std::string bytes;  // RGB, three bytes a pixel; or floats of one channel
};

struct JobOptions : JobSettings {
    std::string tenant;
    PromptOptions prompt;
    std::vector<MediaOption> media;
    std::string json_schema;
    // What is followed of the arguments of each tool, by its name; empty: what the tools themselves say.
    std::string tool_schemas;
    std::string grammar;
    std::vector<std::string> stop;
    SamplingOptions sampling;
    std::vector<llama_logit_bias> logit_bias;
    std::map<std::string, float> loras;
};

// Each throws StatusError invalid_argument that names the member.
LoadOptions load_options(const Napi::Object & from);
EngineOptions engine_options(const Napi::Object & from);
// `sampling`: what holds where the job names nothing.
JobOptions job_options(const Napi::Object & from, const SamplingOptions & sampling);
EmbedOptions embed_options(const Napi::Object & from);
PromptOptions prompt_options(const Napi::Object & from);

}  // namespace svc
