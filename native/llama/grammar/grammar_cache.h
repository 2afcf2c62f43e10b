// The grammars of one model, compiled once for all requests of a tenant that use them, in bounded memory. Thread-safe.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "grammar.h"
#include "retired_grammars.h"
#include "vocabulary_trie.h"

namespace svc {

class GrammarCache {
  public:
    explicit GrammarCache(const llama_vocab * vocab) : vocab_(vocab) {}

    // Throws StatusError invalid_grammar or grammar_too_complex.
    std::shared_ptr<Grammar> get(const std::string & tenant, const std::string & text);
    // The automaton to go on with: the given one, or a fresh one with the same rules once that has grown too large. Throws
    // GrammarLate in a step (grammar_budget.h), which has no time to make one.
    std::shared_ptr<Grammar> renew(const std::shared_ptr<Grammar> & grammar);
    // Built when first asked for.
    const VocabularyTrie & vocabulary();
    // Frees the large automata that nobody uses any more: those of others who may be waited for do not.
    void free_retired() { retired_->clear(); }

  private:
    struct Entry {
        std::shared_ptr<Grammar> grammar;
        std::list<std::string>::iterator use;
    };
    std::shared_ptr<Grammar> make(std::shared_ptr<const GrammarRules> rules) const;
    void make_space();

    const llama_vocab * vocab_;
    // Beside what is kept (make_space), some of the largest automata may run at once.
    static constexpr size_t kMostMemoryBytes = 384 << 20;
    std::shared_ptr<GrammarMemory> memory_ = std::make_shared<GrammarMemory>(kMostMemoryBytes);
    std::shared_ptr<RetiredGrammars> retired_ = std::make_shared<RetiredGrammars>();
    std::once_flag vocabulary_built_;
    std::unique_ptr<const VocabularyTrie> vocabulary_;
    std::mutex mutex_;
    std::list<std::string> by_use_;  // the one unused longest first
    std::map<std::string, Entry> entries_;
};

}  // namespace svc
