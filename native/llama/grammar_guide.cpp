#include "grammar_guide.h"

#include <algorithm>

#include "../common/status.h"

namespace svc {

namespace {

// As many tokens are sought ahead of need in each new state; that ends soon where much is allowed.
constexpr size_t kFew = 32;

}  // namespace

GrammarGuide::GrammarGuide(GrammarCache & cache, const GrammarSpec & spec)
    : cache_(cache),
      vocabulary_(cache.vocabulary()),
      grammar_(cache.renew(cache.get(spec.text))),
      position_{grammar_->start(), {}},
      waiting_(spec.lazy) {
    for (const auto & trigger : spec.triggers) {
        if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN) {
            trigger_tokens_.push_back(trigger.token);
        } else if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_WORD) {
            trigger_words_.push_back(trigger.value);
            reach_ = std::max(reach_, trigger.value.size());
        } else {
            // llama.cpp's chat formats write none; matching one after each token would take time quadratic in the answer.
            throw StatusError("invalid_grammar", "grammar triggers that are regular expressions are not supported");
        }
    }
}

const TokenSet * GrammarGuide::few() {
    auto * state = position_.state;
    if (!position_.partial.none() || state->many.load(std::memory_order_relaxed)) return nullptr;
    if (const auto * tokens = known()) return tokens->n_added() <= kFew ? tokens : nullptr;
    if (auto tokens = allowed_tokens(*grammar_, position_, vocabulary_, kFew))
        return grammar_->set_allowed(state, std::move(*tokens));
    state->many.store(true, std::memory_order_relaxed);
    return nullptr;
}

const TokenSet * GrammarGuide::known() const { return position_.partial.none() ? grammar_->allowed(position_.state) : nullptr; }

const TokenSet & GrammarGuide::allowed() {
    if (!position_.partial.none()) return inside_character_.emplace(*allowed_tokens(*grammar_, position_, vocabulary_));
    if (const auto * tokens = known()) return *tokens;
    return *grammar_->set_allowed(position_.state, *allowed_tokens(*grammar_, position_, vocabulary_));
}

bool GrammarGuide::accept(llama_token token) {
    if (!waiting_) return read(token, vocabulary_.text(token));
    await_trigger(token);
    return true;
}

// The position behind a token, with a dead state when it is not allowed.
GrammarPosition GrammarGuide::follow(llama_token token, std::string_view text) {
    if (vocabulary_.is_end(token)) return {position_.accepting() ? position_.state : grammar_->dead(), {}};
    GrammarPosition behind = position_;
    const bool is_text = !text.empty() && behind.read(*grammar_, text);
    if (!is_text) behind = {grammar_->dead(), {}};
    if (text.empty() || !position_.partial.none() || !behind.partial.none()) return behind;
    behind.state = grammar_->join(behind.state, grammar_->next_token(position_.state, token));
    return behind;
}

bool GrammarGuide::read(llama_token token, std::string_view text) {
    const auto behind = follow(token, text);
    if (behind.state->dead()) return false;
    position_ = behind;
    if (auto fresh = cache_.renew(grammar_); fresh != grammar_) {
        position_.state = fresh->adopt(position_.state, *grammar_);
        grammar_ = std::move(fresh);
    }
    return true;
}

void GrammarGuide::await_trigger(llama_token token) {
    if (std::find(trigger_tokens_.begin(), trigger_tokens_.end(), token) != trigger_tokens_.end()) {
        waiting_ = !read(token, vocabulary_.text(token));
        return;
    }
    tail_.emplace_back(token, vocabulary_.text(token));
    std::string tail;
    for (const auto & [_, text] : tail_) tail += text;
    for (const auto & word : trigger_words_) {
        if (const size_t begin = tail.find(word); begin != std::string::npos) return trigger(begin);
    }
    for (size_t size = tail.size(); !tail_.empty() && size - tail_.front().second.size() >= reach_; tail_.pop_front())
        size -= tail_.front().second.size();
}

// The grammar takes hold from this byte of the tail on. When the token that completed the trigger word goes on in a way that the
// grammar does not know, the model is left alone: there is nothing to hold it to.
void GrammarGuide::trigger(size_t begin) {
    const auto before = position_;
    waiting_ = false;
    size_t at = 0;
    for (const auto & [token, text] : tail_) {
        const size_t end = at + text.size();
        if (end > begin && !read(token, std::string_view(text).substr(begin > at ? begin - at : 0))) {
            position_ = before;
            waiting_ = true;
            break;
        }
        at = end;
    }
    tail_.clear();
}

}  // namespace svc
