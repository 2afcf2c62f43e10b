#include "grammar_cache.h"

namespace svc {

namespace {

constexpr size_t kMostGrammarBytes = 32 << 20;
constexpr size_t kMostBytes = 128 << 20;

}  // namespace

std::shared_ptr<Grammar> GrammarCache::get(const std::string & text) {
    {
        std::lock_guard lock(mutex_);
        auto found = entries_.find(text);
        if (found != entries_.end()) {
            by_use_.splice(by_use_.end(), by_use_, found->second.use);
            return found->second.grammar;
        }
    }
    auto grammar = std::make_shared<Grammar>(std::make_shared<const GrammarRules>(parse_gbnf(text, vocab_)));
    std::lock_guard lock(mutex_);
    auto & entry = entries_[text];
    if (entry.grammar) return entry.grammar;
    entry = {grammar, by_use_.insert(by_use_.end(), text)};
    make_room();
    return grammar;
}

std::shared_ptr<Grammar> GrammarCache::renew(const std::shared_ptr<Grammar> & grammar) {
    if (grammar->size_bytes() < kMostGrammarBytes) return grammar;
    std::lock_guard lock(mutex_);
    for (auto & [text, entry] : entries_) {
        if (entry.grammar->rules() != grammar->rules()) continue;
        if (entry.grammar == grammar) entry.grammar = std::make_shared<Grammar>(grammar->rules());
        return entry.grammar;
    }
    return std::make_shared<Grammar>(grammar->rules());
}

const VocabularyTrie & GrammarCache::vocabulary() {
    std::call_once(vocabulary_built_, [this] { vocabulary_ = std::make_unique<const VocabularyTrie>(vocab_); });
    return *vocabulary_;
}

// Requests in progress keep their automaton, whether it is still listed or not.
void GrammarCache::make_room() {
    size_t size_bytes = 0;
    for (const auto & [text, entry] : entries_) size_bytes += entry.grammar->size_bytes() + text.size();
    while (size_bytes > kMostBytes && entries_.size() > 1) {
        auto oldest = entries_.find(by_use_.front());
        size_bytes -= std::min(size_bytes, oldest->second.grammar->size_bytes() + oldest->first.size());
        entries_.erase(oldest);
        by_use_.pop_front();
    }
}

}  // namespace svc
