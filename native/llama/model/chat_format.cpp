#include "chat_format.h"

#include <new>
#include <stdexcept>

#include "chat-auto-parser.h"
#include "common.h"

namespace svc {

namespace {

constexpr size_t kMostFrameBytes = 16 << 20;

size_t bytes_of(const std::string & key, const common_chat_params & params) {
    return key.size() + params.grammar.size() + params.parser.size() + 256;
}

// llama.cpp throws a copy of the base class, which has lost its words; parsing the template again brings them back.
std::string parse_failure(const llama_model * model, const std::string & override_source) {
    const char * own = llama_model_chat_template(model, nullptr);
    try {
        common_chat_template(override_source.empty() && own ? own : override_source, "", "");
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & error) {
        return error.what();
    }
    // It can be parsed: what lacked was memory.
    throw std::bad_alloc();
}

common_chat_templates_ptr parse_templates(const llama_model * model, const std::string & override_source) {
    try {
        return common_chat_templates_init(model, override_source);
    } catch (const std::exception &) {
        throw std::runtime_error(parse_failure(model, override_source));
    }
}

}  // namespace

ChatFormat::ChatFormat(const llama_model * model, const std::string & override_source)
    : templates_(parse_templates(model, override_source)),
      specialised_(is_specialised(model)),
      call_arguments_(call_arguments_of(templates_.get())) {}

bool ChatFormat::is_specialised(const llama_model * model) const {
    const auto * vocab = llama_model_get_vocab(model);
    auto text = [&](llama_token token) {
        return token == LLAMA_TOKEN_NULL ? std::string() : common_token_to_piece(vocab, token, true);
    };
    try {
        const auto source = common_chat_templates_source(templates_.get());
        common_chat_template tmpl(source, text(llama_vocab_bos(vocab)), text(llama_vocab_eos(vocab)));
        autoparser::generation_params params;
        params.messages = common_json::parse(R"([{"role": "user", "content": "a"}])");
        params.add_generation_prompt = true;
        return common_chat_try_specialized_template(tmpl, tmpl.source(), params).has_value();
    } catch (const std::exception &) {
        return true;
    }
}

common_chat_params ChatFormat::apply(common_chat_templates_inputs inputs, const std::vector<common_chat_tool> & followed,
                                     const std::string & key) const {
    const bool keeps = !specialised_ && !key.empty();
    if (auto frame = keeps ? find(key) : nullptr) {
        inputs.force_pure_content = true;  // renders the messages and skips the analysis
        auto rendered = common_chat_templates_apply(templates_.get(), inputs);
        inputs.force_pure_content = false;
        // Some templates end their prompt differently after some messages; the kept parser would not fit then.
        if (rendered.generation_prompt == frame->generation_prompt) {
            common_chat_params params = *frame;
            params.prompt = std::move(rendered.prompt);
            return params;
        }
    }
    auto analysed = inputs;
    if (!followed.empty()) analysed.tools = followed;
    auto params = common_chat_templates_apply(templates_.get(), analysed);
    if (!followed.empty()) params.prompt = prompt_of(std::move(inputs));
    if (keeps) keep(key, params);
    return params;
}

// Renders and analyses nothing. A template that is treated by hand is rendered by what treats it.
std::string ChatFormat::prompt_of(common_chat_templates_inputs inputs) const {
    if (specialised_) {
        inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_NONE;
        inputs.json_schema.clear();
    } else {
        inputs.force_pure_content = true;
    }
    return common_chat_templates_apply(templates_.get(), inputs).prompt;
}

ChatFormat::Frame ChatFormat::find(const std::string & key) const {
    std::lock_guard lock(mutex_);
    auto found = frames_.find(key);
    return found == frames_.end() ? nullptr : found->second;
}

void ChatFormat::keep(const std::string & key, const common_chat_params & params) const {
    auto frame = std::make_shared<common_chat_params>(params);
    frame->prompt.clear();
    const size_t size = bytes_of(key, *frame);
    if (size > kMostFrameBytes / 4) return;
    std::lock_guard lock(mutex_);
    if (!frames_.emplace(key, frame).second) return;
    by_age_.push_back(key);
    frame_bytes_ += size;
    while (frame_bytes_ > kMostFrameBytes) {
        auto oldest = frames_.find(by_age_.front());
        frame_bytes_ -= bytes_of(oldest->first, *oldest->second);
        frames_.erase(oldest);
        by_age_.pop_front();
    }
}

}  // namespace svc
