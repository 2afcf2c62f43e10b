// Automata that nobody uses any more. To free a large one takes tens of milliseconds, which the thread that lets go of it last,
// often the one that leads the steps, does not have. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "grammar.h"

namespace svc {

class RetiredGrammars {
  public:
    ~RetiredGrammars() { clear(); }

    // Takes it over; a small one is freed at once.
    void take(std::unique_ptr<Grammar> grammar) noexcept {
        if (grammar->size_bytes() < kLargeBytes) return;
        std::lock_guard lock(mutex_);
        grammar->next_retired = std::move(first_);
        first_ = std::move(grammar);
    }

    void clear() noexcept {
        std::unique_ptr<Grammar> grammar;
        {
            std::lock_guard lock(mutex_);
            grammar = std::move(first_);
        }
        while (grammar) grammar = std::move(grammar->next_retired);
    }

  private:
    static constexpr size_t kLargeBytes = 1 << 18;

    std::mutex mutex_;
    std::unique_ptr<Grammar> first_;
};

}  // namespace svc
