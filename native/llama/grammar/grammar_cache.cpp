#include "grammar_cache.h"

#include <algorithm>

#include "grammar_budget.h"

namespace svc {

namespace {

constexpr size_t kMostGrammarBytes = 32 << 20;
constexpr size_t kMostCachedBytes = 128 << 20;

}  // namespace

std::shared_ptr<Grammar> GrammarCache::get(const std::string & tenant, const std::string & text) {
    free_retired();
    const std::string key = tenant + '\0' + text;
    {
        std::lock_guard lock(mutex_);
        auto found = entries_.find(key);
        if (found != entries_.end()) {
            by_use_.splice(by_use_.end(), by_use_, found->second.use);
            return found->second.grammar;
        }
    }
    auto grammar = make(std::make_shared<const GrammarRules>(parse_gbnf(text, vocab_)));
    std::list<std::string> use{key};
    std::lock_guard lock(mutex_);
    const auto [entry, is_new] = entries_.try_emplace(key, Entry{grammar, use.begin()});
    if (!is_new) return entry->second.grammar;
    by_use_.splice(by_use_.end(), use);
    make_space();
    return grammar;
}

std::shared_ptr<Grammar> GrammarCache::make(std::shared_ptr<const GrammarRules> rules) const {
    auto grammar = std::make_unique<Grammar>(std::move(rules), memory_);
    return {grammar.release(), [retired = retired_](Grammar * last) { retired->take(std::unique_ptr<Grammar>(last)); }};
}

std::shared_ptr<Grammar> GrammarCache::renew(const std::shared_ptr<Grammar> & grammar) {
    if (grammar->size_bytes() < kMostGrammarBytes) return grammar;
    if (GrammarBudget::is_step()) throw GrammarLate();
    const auto has_rules = [&](const auto & entry) { return entry.second.grammar->rules() == grammar->rules(); };
    {
        std::lock_guard lock(mutex_);
        const auto found = std::find_if(entries_.begin(), entries_.end(), has_rules);
        if (found != entries_.end() && found->second.grammar != grammar) return found->second.grammar;
    }
    auto fresh = make(grammar->rules());
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(), has_rules);
    if (found != entries_.end() && found->second.grammar != grammar) return found->second.grammar;
    if (found != entries_.end()) found->second.grammar = fresh;
    return fresh;
}

const VocabularyTrie & GrammarCache::vocabulary() {
    std::call_once(vocabulary_built_, [this] { vocabulary_ = std::make_unique<const VocabularyTrie>(vocab_); });
    return *vocabulary_;
}

// Requests in progress keep their automaton, whether it is still listed or not.
void GrammarCache::make_space() {
    size_t size_bytes = 0;
    for (const auto & [text, entry] : entries_) size_bytes += entry.grammar->size_bytes() + text.size();
    while (size_bytes > kMostCachedBytes && entries_.size() > 1) {
        auto oldest = entries_.find(by_use_.front());
        size_bytes -= std::min(size_bytes, oldest->second.grammar->size_bytes() + oldest->first.size());
        entries_.erase(oldest);
        by_use_.pop_front();
    }
}

}  // namespace svc
