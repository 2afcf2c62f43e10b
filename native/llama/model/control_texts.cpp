#include "control_texts.h"

#include <algorithm>

namespace svc {

namespace {

constexpr const char * kZeroWidthSpace = "\xe2\x80\x8b";

size_t character_length(unsigned char first) { return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4; }

}  // namespace

ControlTexts::ControlTexts(const llama_vocab * vocab) {
    for (llama_token token = 0; token < llama_vocab_n_tokens(vocab); token++) {
        if (!llama_vocab_is_control(vocab, token)) continue;
        const std::string text = llama_vocab_get_text(vocab, token);
        // One character cannot be broken up.
        if (text.empty() || text.size() <= character_length(static_cast<unsigned char>(text.front()))) continue;
        texts_[static_cast<unsigned char>(text.front())].push_back(text);
    }
}

bool ControlTexts::begins_at(const std::string & text, size_t at) const {
    const auto & candidates = texts_[static_cast<unsigned char>(text[at])];
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const std::string & each) { return text.compare(at, each.size(), each) == 0; });
}

void ControlTexts::escape_control_texts(std::string & text) const {
    std::string escaped;
    size_t copied = 0;
    for (size_t at = 0; at < text.size(); at++) {
        if (!begins_at(text, at)) continue;
        const size_t behind = at + character_length(static_cast<unsigned char>(text[at]));
        escaped.append(text, copied, behind - copied).append(kZeroWidthSpace);
        copied = behind;
    }
    if (copied == 0) return;
    text = escaped.append(text, copied, std::string::npos);
}

void ControlTexts::escape_json_strings(std::string & text) const {
    if (text.find('\\') != std::string::npos) {
        auto value = common_json::parse_no_throw(text);
        if (!value.is_discarded() && escape_strings(value)) text = value.dump_safe();
    }
    escape_control_texts(text);
}

// False, and nothing changes, when no string needs it.
bool ControlTexts::escape_strings(common_json & value) const {
    if (value.is_string()) {
        auto text = value.get<std::string>();
        const size_t n_bytes = text.size();
        escape_control_texts(text);
        if (text.size() == n_bytes) return false;
        value = text;
        return true;
    }
    bool changes = false;
    if (value.is_array()) {
        for (auto & each : value) changes = escape_strings(each) || changes;
    }
    if (!value.is_object()) return changes;
    auto escaped = common_json::object();
    for (const auto item : value.items()) {
        auto key = item.key();
        escape_control_texts(key);
        changes = escape_strings(item.value()) || changes || key != item.key();
        escaped[key] = item.value();
    }
    if (changes) value = escaped;
    return changes;
}

}  // namespace svc
