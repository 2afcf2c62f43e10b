#include "chat_inputs.h"

#include <algorithm>

#include "../../common/status.h"
#include "../grammar/conversion_cost.h"
#include "../grammar/grammar_budget.h"
#include "../grammar/schema_bounds.h"
#include "../model/model.h"
#include "../text/json_bounds.h"
#include "mtmd.h"

namespace svc {

namespace {

// A regular expression reads a name letter by letter, recursively.
constexpr size_t kMostToolNameBytes = 1024;

// Images and sounds arrive beside the messages; in the text, llama.cpp's marker holds their place.
void mark_media(common_json & messages) {
    if (!messages.is_array()) return;
    for (auto & message : messages) {
        if (!message.is_object() || !message.contains("content") || !message.at("content").is_array()) continue;
        for (auto & part : message.at("content")) {
            if (!part.is_object() || !part.contains("type") || !part.at("type").is_string()) continue;
            auto type = part.at("type").get<std::string>();
            if (type != "image_url" && type != "input_audio") continue;
            part.erase(type);
            part["type"] = "media_marker";
            part["text"] = mtmd_default_marker();
        }
    }
}

// Templates get arguments as the values that the text inside the string describes, some of them results of tools too.
void check_inner_json(const std::vector<common_chat_msg> & messages) {
    uint64_t n_compared = 0;
    for (size_t i = 0; i < messages.size(); i++) {
        const auto member = "messages[" + std::to_string(i) + "]";
        const auto & calls = messages[i].tool_calls;
        for (size_t j = 0; j < calls.size(); j++)
            n_compared =
                check_json(calls[j].arguments, member + ".tool_calls[" + std::to_string(j) + "].function.arguments", n_compared);
        if (messages[i].role != "tool") continue;
        const auto joined = messages[i].to_json_oaicompat(true);
        if (joined.contains("content") && joined.at("content").is_string())
            n_compared = check_if_json(joined.at("content").get<std::string>(), member + ".content", n_compared);
    }
}

// The result of a tool, which templates read as JSON where it is that, also when it comes in parts.
void escape_result(const ControlTexts & control, common_chat_msg & message) {
    control.escape_json_strings(message.content);
    const bool is_text = std::all_of(message.content_parts.begin(), message.content_parts.end(),
                                     [](const auto & part) { return part.type == "text"; });
    if (message.content_parts.empty() || !is_text) return;
    const auto joined = message.to_json_oaicompat(true);
    if (!joined.contains("content") || !joined.at("content").is_string()) return;
    const auto text = joined.at("content").get<std::string>();
    auto escaped = text;
    control.escape_json_strings(escaped);
    if (escaped == text) return;
    message.content_parts.resize(1);
    message.content_parts.front().text = escaped;
}

// What anybody wrote must not end a turn, nor what the model copied from there.
void escape_control_texts(const ControlTexts & control, std::vector<common_chat_msg> & messages) {
    for (auto & message : messages) {
        if (message.role == "tool") escape_result(control, message);
        for (auto * text :
             {&message.role, &message.content, &message.reasoning_content, &message.tool_name, &message.tool_call_id})
            control.escape_control_texts(*text);
        for (auto & part : message.content_parts) control.escape_control_texts(part.text);
        for (auto & call : message.tool_calls) {
            control.escape_json_strings(call.arguments);
            control.escape_control_texts(call.name);
            control.escape_control_texts(call.id);
        }
    }
}

// Names and values stay: what the model calls must be what was offered.
void escape_descriptions(const ControlTexts & control, common_json & tools) {
    if (tools.is_array()) {
        for (auto & each : tools) escape_descriptions(control, each);
    }
    if (!tools.is_object()) return;
    std::vector<std::string> keys;
    for (const auto item : tools.items()) keys.push_back(item.key());
    for (const auto & key : keys) {
        auto & value = tools.at(key);
        if (key != "description" || !value.is_string()) {
            escape_descriptions(control, value);
            continue;
        }
        auto text = value.get<std::string>();
        control.escape_control_texts(text);
        value = text;
    }
}

// Throws StatusError that names the tool's place.
void check_tools(const common_json & tools, bool are_converted) {
    if (!tools.is_array()) return;
    ConversionCost cost;
    for (size_t i = 0; i < tools.size(); i++) {
        const auto & tool = tools.at(i);
        if (!tool.is_object() || !tool.contains("function") || !tool.at("function").is_object()) continue;
        const auto & function = tool.at("function");
        const auto member = "tools[" + std::to_string(i) + "].function";
        if (function.contains("name") && function.at("name").is_string() &&
            function.at("name").get<std::string>().size() > kMostToolNameBytes) {
            throw StatusError("invalid_argument",
                              member + ".name has more than " + std::to_string(kMostToolNameBytes) + " bytes; shorten it");
        }
        if (!function.contains("parameters")) continue;
        if (!are_converted) continue;
        SchemaBounds(function.at("parameters"), member + ".parameters").check();
        cost.add(function.at("parameters"), std::to_string(i));
    }
}

// Drops the white space around a text, as templates may.
std::string_view trimmed(std::string_view text) {
    constexpr const char * kWhiteSpace = " \t\n\v\f\r";
    const size_t begin = text.find_first_not_of(kWhiteSpace);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

// Every template writes out what users said. Rendering megabytes that cannot fit takes seconds, while others wait for this
// thread.
void check_user_text(const Model & model, const std::vector<common_chat_msg> & messages, uint32_t n_ctx) {
    size_t n_least = 0;
    // A token may reach from one text into the next.
    const auto count = [&](const std::string & text) { n_least += std::max<size_t>(model.least_tokens(trimmed(text)), 1) - 1; };
    for (const auto & message : messages) {
        if (message.role != "user") continue;
        count(message.content);
        for (const auto & part : message.content_parts) count(part.text);
    }
    // Every template writes something around each message.
    check_length("at least ", std::max(n_least, messages.size()), n_ctx);
}

common_chat_tool_choice tool_choice(const std::string & text) {
    if (text == "required") return COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    if (text == "none") return COMMON_CHAT_TOOL_CHOICE_NONE;
    return COMMON_CHAT_TOOL_CHOICE_AUTO;
}

}  // namespace

common_json parse_json(const std::string & text, const char * what) {
    check_json(text, what);
    try {
        return common_json::parse(text);
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & error) {
        throw StatusError("invalid_argument", std::string(what) + " is not valid JSON: " + error.what());
    }
}

common_json parse_schema(const std::string & text) {
    auto schema = parse_json(text, "the JSON schema");
    SchemaBounds(schema, "the JSON schema").check();
    ConversionCost().add(schema, "");
    return schema;
}

void check_length(const char * bound, size_t n_tokens, uint32_t n_ctx) {
    if (n_tokens < n_ctx) return;
    // Clients look for the words "maximum context length", OpenAI's own (LangChain does).
    throw StatusError({"context_length_exceeded",
                       "the prompt has " + (bound + std::to_string(n_tokens)) + " tokens and the context holds " +
                           std::to_string(n_ctx) + ", its maximum context length",
                       static_cast<uint32_t>(n_tokens), n_ctx});
}

common_chat_templates_inputs inputs_of(const Model & model, const JobOptions & job, uint32_t n_ctx) {
    const auto & prompt = job.prompt;
    common_chat_templates_inputs inputs;
    try {
        auto messages = parse_json(prompt.messages_json, "messages");
        mark_media(messages);
        inputs.messages = common_chat_msgs_parse_oaicompat(messages);
        check_user_text(model, inputs.messages, n_ctx);
        check_inner_json(inputs.messages);
        escape_control_texts(model.control_texts(), inputs.messages);
        if (!prompt.tools_json.empty()) {
            auto tools = parse_json(prompt.tools_json, "tools");
            check_tools(tools, prompt.tool_choice != "none" && job.tool_schemas.empty());
            escape_descriptions(model.control_texts(), tools);
            inputs.tools = common_chat_tools_parse_oaicompat(tools);
        }
    } catch (const StatusError &) {
        throw;
    } catch (const GrammarLate &) {
        throw;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & error) {
        throw StatusError("invalid_argument", std::string("the messages or tools cannot be read: ") + error.what());
    }
    inputs.tool_choice = tool_choice(prompt.tool_choice);
    inputs.grammar = job.grammar;
    if (!job.json_schema.empty()) {
        parse_schema(job.json_schema);
        inputs.json_schema = job.json_schema;
    }
    auto caps = common_chat_templates_get_caps(model.chat_format()->templates());
    inputs.parallel_tool_calls = prompt.parallel_tool_calls.value_or(caps["supports_parallel_tool_calls"]);
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    inputs.enable_thinking = prompt.enable_thinking;
    if (!prompt.template_kwargs_json.empty()) {
        auto kwargs = parse_json(prompt.template_kwargs_json, "chat_template_kwargs");
        for (const auto item : kwargs.items()) {
            inputs.chat_template_kwargs[item.key()] = item.value().dump();
        }
    }
    return inputs;
}

}  // namespace svc
