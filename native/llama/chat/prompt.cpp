#include "prompt.h"

#include <algorithm>
#include <regex>

#include "../../common/status.h"
#include "../grammar/conversion_cost.h"
#include "../grammar/converted_grammar.h"
#include "../grammar/grammar_budget.h"
#include "../grammar/raw_strings.h"
#include "../grammar/schema_bounds.h"
#include "../model/model.h"
#include "../text/json_bounds.h"
#include "json-schema-to-grammar.h"

namespace svc {

namespace {

// A regular expression reads a name letter by letter, recursively.
constexpr size_t kMostToolNameBytes = 1024;

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

// A grammar, and a schema that becomes one.
constexpr size_t kMostGrammarBytes = 256 * 1024;

void check_size(const std::string & text, const char * what) {
    if (text.size() <= kMostGrammarBytes) return;
    throw StatusError("grammar_too_complex", std::string(what) + " has " + std::to_string(text.size()) + " bytes and may have " +
                                                 std::to_string(kMostGrammarBytes) + " bytes; make it smaller");
}

common_json parse_schema(const std::string & text) {
    auto schema = parse_json(text, "the JSON schema");
    SchemaBounds(schema, "the JSON schema").check();
    ConversionCost().add(schema, "");
    return schema;
}

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

void check_length(const char * bound, size_t n_tokens, uint32_t n_ctx) {
    if (n_tokens < n_ctx) return;
    // Clients look for the words "maximum context length", OpenAI's own (LangChain does).
    throw StatusError({"context_length_exceeded",
                       "the prompt has " + (bound + std::to_string(n_tokens)) + " tokens and the context holds " +
                           std::to_string(n_ctx) + ", its maximum context length",
                       static_cast<uint32_t>(n_tokens), n_ctx});
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

struct FollowedTools {
    // With the schemas that are followed of them; none where those are the tools' own.
    std::vector<common_chat_tool> tools;
    // By tool and argument, for calls that write strings as they are.
    common_json strings = common_json::object();
};

FollowedTools followed_tools(const JobOptions & job, const std::vector<common_chat_tool> & tools) {
    if (job.tool_schemas.empty() || job.prompt.tool_choice == "none") return {};
    const auto schemas = parse_json(job.tool_schemas, "toolSchemas");
    FollowedTools followed;
    followed.tools = tools;
    ConversionCost cost;
    for (auto & tool : followed.tools) {
        if (!schemas.contains(tool.name)) continue;
        auto schema = schemas.at(tool.name);
        if (schema.is_object() && schema.contains(kRawStrings)) {
            followed.strings[tool.name] = schema.at(kRawStrings);
            schema.erase(kRawStrings);
        }
        SchemaBounds(schema, "the schema of the tool " + tool.name).check();
        cost.add(schema, tool.name);
        tool.parameters = schema.dump();
    }
    return followed;
}

// All that shapes the answer's syntax, which is everything but the messages. A tenant's frames are its own: what one tenant
// offers is not quicker because another has offered it. Empty, and nothing is kept, where there is no tenant.
std::string format_key(const JobOptions & job, const common_chat_templates_inputs & inputs) {
    if (job.tenant.empty()) return {};
    std::string key = job.tenant + '\0';
    for (const auto & part :
         {job.prompt.tools_json, job.tool_schemas, job.prompt.template_kwargs_json, inputs.json_schema, job.grammar}) {
        key += std::to_string(part.size()) + ':' + part;
    }
    key += std::to_string(inputs.tool_choice) + (inputs.parallel_tool_calls ? "p" : "-") + (inputs.enable_thinking ? "t" : "-");
    return key;
}

bool writes_strings_raw(const Model & model, const common_chat_params & params, const FollowedTools & followed) {
    return !followed.strings.empty() && !params.grammar.empty() && !params.parser.empty() &&
           model.chat_format()->call_arguments() == CallArguments::Tagged;
}

common_chat_params render(const Model & model, const JobOptions & job, const common_chat_templates_inputs & inputs,
                          const FollowedTools & followed) {
    try {
        auto params = model.chat_format()->apply(inputs, followed.tools, format_key(job, inputs));
        if (job.grammar.empty()) params.grammar = put_right(params.grammar);
        if (writes_strings_raw(model, params, followed)) {
            common_peg_arena parser;
            parser.load(params.parser);
            params.grammar = follow_strings(parser, params.grammar, followed.strings);
        }
        return params;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & error) {
        const std::string why = error.what();
        // llama.cpp throws other exceptions with the words of the first.
        if (why.find(std::bad_alloc().what()) != std::string::npos) throw std::bad_alloc();
        // llama.cpp's own words, behind which stands the place in the schema.
        if (const auto at = why.find("JSON schema error at"); at != std::string::npos)
            throw StatusError("invalid_grammar", "the parameters of a tool cannot be followed: " + why.substr(at));
        throw StatusError("template_failed",
                          "the model's chat template refused these messages; change their roles or order as it says: " + why);
    }
}

std::shared_ptr<AnswerSyntax> syntax_of(const Model & model, const common_chat_params & params, bool parse_tools,
                                        bool single_call) {
    auto syntax = std::make_shared<AnswerSyntax>();
    for (const auto & text : params.preserved_tokens) {
        auto tokens = model.tokenize(text, false, true);
        if (tokens.size() == 1) syntax->preserved.insert(tokens[0]);
    }
    syntax->plain = !parse_tools && !params.supports_thinking && params.format != COMMON_CHAT_FORMAT_PEG_GEMMA4 &&
                    params.format != COMMON_CHAT_FORMAT_PEG_MINIMAX_M3;
    if (params.parser.empty()) syntax->plain = true;
    if (syntax->plain) return syntax;
    syntax->single_call = single_call;
    syntax->parser = common_chat_parser_params(params);
    syntax->parser.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    syntax->parser.parse_tool_calls = parse_tools;
    syntax->parser.parser.load(params.parser);
    syntax->fields.emplace(syntax->parser.parser);
    return syntax;
}

std::vector<common_grammar_trigger> triggers_of(const Model & model, const common_chat_params & params) {
    std::vector<common_grammar_trigger> triggers;
    for (auto trigger : params.grammar_triggers) {
        // A word that is one preserved token triggers as a token: its text may never appear in the output.
        if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_WORD) {
            auto tokens = model.tokenize(trigger.value, false, true);
            bool preserved = std::find(params.preserved_tokens.begin(), params.preserved_tokens.end(), trigger.value) !=
                             params.preserved_tokens.end();
            if (tokens.size() == 1 && preserved) trigger = {COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN, trigger.value, tokens[0]};
        }
        triggers.push_back(trigger);
    }
    return triggers;
}

// The schema's grammar from the first token on. llama.cpp's chat grammars also allow a Markdown fence around the JSON.
GrammarSpec schema_grammar(const std::string & json_schema) {
    auto schema = parse_schema(json_schema);
    if (schema.is_object() && schema.empty()) schema["type"] = "object";
    try {
        return {put_right(json_schema_to_grammar(schema)), false, {}, ""};
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & error) {
        throw StatusError("invalid_grammar", std::string("the JSON schema cannot be followed: ") + error.what());
    }
}

// A forced call begins with the first token. llama.cpp's grammar for `required` lets any words come before the call (a rule named
// until-N); without them the call is all that is left. Models that think first keep the words.
void force_call(GrammarSpec & grammar) {
    // A schema may have rules whose names end alike, so only the beginning of a line counts.
    static const std::string line_of_root = "\nroot ::= ";
    const bool is_first = grammar.text.rfind(line_of_root.substr(1), 0) == 0;
    const size_t root = is_first ? 0 : grammar.text.find(line_of_root);
    if (root == std::string::npos) return;
    const size_t end = std::min(grammar.text.find('\n', root + 1), grammar.text.size());
    static const std::regex words("until-[0-9]+\\?? ?");
    const auto line = std::regex_replace(grammar.text.substr(root, end - root), words, "");
    grammar.text.replace(root, end - root, line);
}

// The grammar of an answer that follows the schema, or, of a model that thinks, what llama.cpp has for it.
GrammarSpec format_grammar(const JobOptions & job, const Model & model, const common_chat_params & params) {
    if (!params.supports_thinking) return schema_grammar(job.json_schema);
    return {params.grammar, params.grammar_lazy, triggers_of(model, params), params.generation_prompt};
}

// The answer is calls or a text that follows the schema. llama.cpp has grammars for either.
GrammarSpec call_or_text(const Model & model, const JobOptions & job, common_chat_templates_inputs inputs,
                         const FollowedTools & followed) {
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    const auto forced = render(model, job, inputs, followed);
    GrammarSpec calls{forced.grammar, false, {}, forced.generation_prompt};
    if (!forced.supports_thinking) force_call(calls);
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_NONE;
    inputs.json_schema = job.json_schema;
    if (forced.supports_thinking) {
        const auto text = render(model, job, inputs, {});
        calls.text = calls.text.empty() ? text.grammar : either_of(calls.text, "", text.grammar);
        return calls;
    }
    const auto text = schema_grammar(job.json_schema);
    if (calls.text.empty()) return text;
    calls.text = either_of(calls.text, calls.generation_prompt, text.text);
    return calls;
}

std::vector<std::string> call_begins_of(const common_chat_params & params) {
    std::vector<std::string> begins;
    if (params.supports_thinking) return begins;  // the parser tells reasoning from what follows
    for (const auto & trigger : params.grammar_triggers) begins.push_back(trigger.value);
    return begins;
}

Prompt prepare_chat(const Model & model, const JobOptions & job, uint32_t n_ctx) {
    if (!model.chat_format()) throw StatusError("unsupported", "this model was loaded for its vocabulary alone and cannot chat");
    auto inputs = inputs_of(model, job, n_ctx);
    const auto followed = followed_tools(job, inputs.tools);
    const bool uses_tools = !inputs.tools.empty() && inputs.tool_choice != COMMON_CHAT_TOOL_CHOICE_NONE;
    const bool is_forced = uses_tools && inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    if (uses_tools && !job.grammar.empty()) throw StatusError("invalid_argument", "a grammar cannot be combined with tools");
    // llama.cpp's parser leaves the tools out where there is a schema.
    if (uses_tools) inputs.json_schema.clear();
    auto params = render(model, job, inputs, followed);
    Prompt prompt;
    auto syntax = syntax_of(model, params, uses_tools, job.prompt.parallel_tool_calls == false);
    prompt.stop = params.additional_stops;
    const bool has_format = !job.json_schema.empty();
    if (!job.grammar.empty()) {
        // A grammar of the user's own describes the model's words alone, from the first on.
        prompt.grammar.text = job.grammar;
    } else if (has_format && uses_tools && !is_forced) {
        prompt.grammar = call_or_text(model, job, inputs, followed);
        syntax->call_begins = call_begins_of(params);
    } else if (has_format && !uses_tools) {
        prompt.grammar = format_grammar(job, model, params);
    } else {
        prompt.grammar = {params.grammar, params.grammar_lazy, triggers_of(model, params), params.generation_prompt};
        if (is_forced && !params.supports_thinking) force_call(prompt.grammar);
    }
    prompt.syntax = std::move(syntax);
    prompt.text = std::move(params.prompt);
    return prompt;
}

Prompt prepare_text(const JobOptions & job) {
    Prompt prompt;
    prompt.syntax = std::make_shared<AnswerSyntax>();
    if (job.json_schema.empty()) prompt.grammar.text = job.grammar;
    else prompt.grammar = schema_grammar(job.json_schema);
    prompt.text = job.prompt.text;
    return prompt;
}

void check_tokens(const Model & model, const std::vector<llama_token> & tokens) {
    for (auto token : tokens) {
        if (token < 0 || token >= model.n_vocab())
            throw StatusError("invalid_argument", "token " + std::to_string(token) + " is not in the vocabulary");
    }
}

}  // namespace

Prompt prepare_prompt(const Model & model, const JobOptions & job, uint32_t n_ctx) {
    if (!job.grammar.empty() && !job.json_schema.empty()) {
        throw StatusError("invalid_argument", "grammar and JSON schema exclude each other; give one");
    }
    check_size(job.grammar, "the grammar");
    check_size(job.json_schema, "the JSON schema");
    check_size(job.tool_schemas, "what is followed of the tools' schemas");
    auto prompt = job.prompt.kind == PromptOptions::Kind::Chat ? prepare_chat(model, job, n_ctx) : prepare_text(job);
    prompt.grammar.tenant = job.tenant;
    // Megabytes take seconds to tokenise, while others wait for this thread.
    check_length("at least ", model.least_tokens(prompt.text), n_ctx);
    if (!job.media.empty()) {
        tokenize_with_media(model, prompt.text, job.media, prompt.tokens, prompt.media);
    } else if (job.prompt.kind == PromptOptions::Kind::Tokens) {
        check_tokens(model, job.prompt.tokens);
        prompt.tokens = job.prompt.tokens;
    } else {
        prompt.tokens = model.tokenize(prompt.text, job.prompt.add_special, true);
    }
    if (prompt.tokens.empty()) throw StatusError("invalid_argument", "the prompt has no tokens");
    check_length("", prompt.tokens.size(), n_ctx);
    return prompt;
}

}  // namespace svc
