#include "answer_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "../model/model.h"
#include "../options/options.h"

namespace svc {

namespace {

// Tokens of the longest piece whose repetition is seen.
constexpr int32_t kMostPeriod = 32;
constexpr int32_t kLeastTimes = 3;

std::vector<std::string> words_of(const std::string & text) {
    std::vector<std::string> words;
    for (size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        if (end > begin) words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

// The words are ASCII, which is all that is made small.
std::string in_small_letters(std::string text) {
    for (char & c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

bool is_periodic(const llama_token * end, int32_t n_tokens, int32_t period) {
    for (int32_t i = 1; i <= n_tokens - period; i++) {
        if (end[-i] != end[-i - period]) return false;
    }
    return true;
}

}  // namespace

AnswerBounds::AnswerBounds(const Model & model)
    : repetition_stop_(std::clamp(std::atoi(model.meta("svc.repetition_stop").c_str()), 0, 1 << 16)),
      json_words_(words_of(model.meta("svc.json_words"))) {
    for (llama_token token = 0; !json_words_.empty() && token < model.n_vocab(); token++) {
        if (model.piece(token, false).find('{') != std::string::npos) braces_.push_back(token);
    }
}

bool AnswerBounds::repeats_itself(const std::vector<llama_token> & tokens, int32_t n_generated) const {
    if (repetition_stop_ == 0 || n_generated < repetition_stop_) return false;
    const auto * end = tokens.data() + tokens.size();
    for (int32_t period = 1; period <= kMostPeriod; period++) {
        const auto n_tokens = std::max(repetition_stop_, kLeastTimes * period);
        if (n_tokens > n_generated) return false;
        if (is_periodic(end, n_tokens, period)) return true;
    }
    return false;
}

void AnswerBounds::forbid_unasked_json(JobOptions & options) const {
    const auto & prompt = options.prompt;
    if (json_words_.empty() || prompt.kind != PromptOptions::Kind::Chat) return;
    if (!prompt.tools_json.empty() || !options.json_schema.empty() || !options.grammar.empty()) return;
    const auto said = in_small_letters(prompt.messages_json);
    const auto is_said = [&](const std::string & word) { return said.find(word) != std::string::npos; };
    if (std::any_of(json_words_.begin(), json_words_.end(), is_said)) return;
    for (auto token : braces_) options.logit_bias.push_back({token, -INFINITY});
}

}  // namespace svc
