#include "grammar_guide.h"

#include <algorithm>

#include "../../common/status.h"

namespace svc {

namespace {

// As many tokens are sought ahead of need in each new state; that ends soon where much is allowed.
constexpr size_t kFew = 32;

}  // namespace

GrammarGuide::GrammarGuide(GrammarCache & cache, const GrammarSpec & spec)
    : cache_(cache),
      vocabulary_(cache.vocabulary()),
      place_{cache.renew(cache.get(spec.tenant, spec.text)), {}},
      waiting_(spec.lazy) {
    place_.position = {place_.grammar->start(), {}};
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
    auto & [grammar, position] = place_;
    if (!position.partial.none() || position.state->many.load(std::memory_order_relaxed)) return nullptr;
    if (const auto * tokens = known()) return tokens->n_added() <= kFew ? tokens : nullptr;
    if (auto tokens = allowed_tokens(*grammar, position, vocabulary_, kFew))
        return grammar->set_allowed(position.state, std::move(*tokens));
    position.state->many.store(true, std::memory_order_relaxed);
    return nullptr;
}

const TokenSet * GrammarGuide::known() const {
    return place_.position.partial.none() ? place_.grammar->allowed(place_.position.state) : nullptr;
}

const TokenSet & GrammarGuide::allowed() {
    auto & [grammar, position] = place_;
    if (!position.partial.none()) return inside_character_.emplace(*allowed_tokens(*grammar, position, vocabulary_));
    if (const auto * tokens = known()) return *tokens;
    return *grammar->set_allowed(position.state, *allowed_tokens(*grammar, position, vocabulary_));
}

bool GrammarGuide::accept(llama_token token) {
    if (!waiting_) return read(token);
    await_trigger(token);
    return true;
}

// The position behind a token, with a dead state when it is not allowed.
GrammarPosition GrammarGuide::follow(const Place & from, llama_token token, std::string_view text) const {
    const auto & [grammar, position] = from;
    if (vocabulary_.is_end(token)) return {position.accepting() ? position.state : grammar->dead(), {}};
    GrammarPosition behind = position;
    const bool is_text = !text.empty() && behind.read(*grammar, text);
    if (!is_text) behind = {grammar->dead(), {}};
    if (text.empty() || !position.partial.none() || !behind.partial.none()) return behind;
    behind.state = grammar->join(behind.state, grammar->next_token(position.state, token));
    return behind;
}

// Nothing when the token is not allowed.
std::optional<GrammarGuide::Place> GrammarGuide::behind(const Place & from, llama_token token, std::string_view text) const {
    auto position = follow(from, token, text);
    if (position.state->dead()) return std::nullopt;
    auto grammar = cache_.renew(from.grammar);
    if (grammar != from.grammar) position.state = grammar->adopt(position.state, *from.grammar);
    return Place{std::move(grammar), position};
}

bool GrammarGuide::read(llama_token token) {
    auto next = behind(place_, token, vocabulary_.text(token));
    if (!next) return false;
    place_ = std::move(*next);
    return true;
}

void GrammarGuide::await_trigger(llama_token token) {
    if (std::find(trigger_tokens_.begin(), trigger_tokens_.end(), token) != trigger_tokens_.end()) {
        waiting_ = !read(token);
        return;
    }
    const auto tail = tail_with(token);
    for (const auto & word : trigger_words_) {
        const size_t begin = tail.find(word);
        if (begin == std::string::npos) continue;
        auto next = trigger(begin, token);
        waiting_ = !next;
        if (next) place_ = std::move(*next);
        tail_.clear();
        n_tail_bytes_ = 0;
        return;
    }
    remember(token);
}

// The grammar takes hold from this byte of the tail on. When the token that completed the trigger word goes on in a way that the
// grammar does not know, the model is left alone: there is nothing to hold it to.
std::optional<GrammarGuide::Place> GrammarGuide::trigger(size_t begin, llama_token token) const {
    std::optional<Place> place = place_;
    size_t at = 0;
    auto tokens = tail_;
    tokens.push_back(token);
    for (const llama_token next : tokens) {
        const auto text = vocabulary_.text(next);
        if (place && at + text.size() > begin) place = behind(*place, next, text.substr(begin > at ? begin - at : 0));
        at += text.size();
    }
    return place;
}

std::string GrammarGuide::tail_with(llama_token token) const {
    std::string tail;
    for (const llama_token before : tail_) tail += vocabulary_.text(before);
    return tail += vocabulary_.text(token);
}

void GrammarGuide::remember(llama_token token) {
    tail_.push_back(token);
    n_tail_bytes_ += vocabulary_.text(token).size();
    while (!tail_.empty()) {
        const size_t n_first = vocabulary_.text(tail_.front()).size();
        if (n_tail_bytes_ - n_first < reach_) return;
        n_tail_bytes_ -= n_first;
        tail_.pop_front();
    }
}

}  // namespace svc
