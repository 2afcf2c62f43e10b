#include "prompt.h"

#include <algorithm>
#include <regex>

#include "../../common/status.h"
#include "../grammar/conversion_cost.h"
#include "../grammar/converted_grammar.h"
#include "../grammar/raw_strings.h"
#include "../grammar/schema_bounds.h"
#include "../model/model.h"
#include "chat_inputs.h"
#include "json-schema-to-grammar.h"

namespace svc {

namespace {

// A grammar, and a schema that becomes one.
constexpr size_t kMostGrammarBytes = 256 * 1024;

void check_size(const std::string & text, const char * what) {
    if (text.size() <= kMostGrammarBytes) return;
    throw StatusError("grammar_too_complex", std::string(what) + " has " + std::to_string(text.size()) + " bytes and may have " +
                                                 std::to_string(kMostGrammarBytes) + " bytes; make it smaller");
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
