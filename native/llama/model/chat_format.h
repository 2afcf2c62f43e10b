// Renders chats with the model's template. llama.cpp analyses a template for every request (milliseconds); what the analysis
// yields depends on tools, schema and options but not on the messages, so it is kept and only the messages are rendered anew.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "../grammar/raw_strings.h"
#include "chat.h"
#include "llama.h"

namespace svc {

class ChatFormat {
  public:
    // Throws what llama.cpp throws for a template that cannot be parsed. `override_source`: empty for the model's own template.
    ChatFormat(const llama_model * model, const std::string & override_source);

    const common_chat_templates * templates() const { return templates_.get(); }

    CallArguments call_arguments() const { return call_arguments_; }

    // Same result as common_chat_templates_apply(inputs), with the grammar and the parser of `followed` where that has tools: the
    // prompt shows those of `inputs`. `key` stands for all of both but the messages, and for the tenant; where it is empty,
    // nothing is kept. Thread-safe.
    common_chat_params apply(common_chat_templates_inputs inputs, const std::vector<common_chat_tool> & followed,
                             const std::string & key) const;

  private:
    using Frame = std::shared_ptr<const common_chat_params>;

    std::string prompt_of(common_chat_templates_inputs inputs) const;
    bool is_specialised(const llama_model * model) const;
    Frame find(const std::string & key) const;
    void keep(const std::string & key, const common_chat_params & params) const;

    common_chat_templates_ptr templates_;
    // llama.cpp treats this template by hand and may rewrite messages; nothing is kept then.
    bool specialised_ = true;
    CallArguments call_arguments_;

    mutable std::mutex mutex_;
    mutable std::list<std::string> by_age_;  // oldest first
    mutable std::map<std::string, Frame> frames_;
    mutable size_t frame_bytes_ = 0;
};

}  // namespace svc
