// What the automata of one model take together, those of running requests and those that are kept. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace svc {

class GrammarMemory {
  public:
    explicit GrammarMemory(size_t most_bytes) : most_bytes_(most_bytes) {}

    size_t used_bytes() const { return used_bytes_; }

    // What one automaton takes of it, given back with the automaton.
    class Share {
      public:
        explicit Share(std::shared_ptr<GrammarMemory> memory) : memory_(std::move(memory)) {}
        ~Share() { memory_->used_bytes_ -= bytes_; }
        Share(const Share &) = delete;
        Share & operator=(const Share &) = delete;

        size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
        // False, and nothing is taken, where too little is left. A small automaton is not refused: large ones of others must
        // not keep it from its answer.
        bool grow(size_t n_bytes) {
            const size_t used = memory_->used_bytes_ += n_bytes;
            if (used > memory_->most_bytes_ && bytes_ + n_bytes > kSmallBytes) {
                memory_->used_bytes_ -= n_bytes;
                return false;
            }
            bytes_ += n_bytes;
            return true;
        }

      private:
        std::shared_ptr<GrammarMemory> memory_;
        std::atomic<size_t> bytes_{0};
    };

    static constexpr size_t kSmallBytes = 2 << 20;

  private:
    const size_t most_bytes_;
    std::atomic<size_t> used_bytes_{0};
};

}  // namespace svc
