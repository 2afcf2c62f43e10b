// Finds where the last tokens of a sequence stood before; what followed there is a guess at what follows now.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "llama.h"

namespace svc {

class NgramIndex {
  public:
    // An earlier place that the end of the sequence repeats.
    struct Match {
        size_t next = 0;      // index of the token that followed there; 0: no match
        uint32_t length = 0;  // how many tokens before it equal the end of the sequence, at most kMostLength
    };

    // Takes in what was added to `tokens` since the last call, at most kMostAtOnce of it. O(1) for each token; they must only
    // grow.
    void follow(const std::vector<llama_token> & tokens);
    // The latest earlier place of the longest n-gram that is indexed; none before all tokens are taken in. O(1).
    Match find(const std::vector<llama_token> & tokens) const;

  private:
    static constexpr size_t kShortest = 2;
    static constexpr size_t kLongest = 4;
    static constexpr uint32_t kMostLength = 16;
    // Some hundred microseconds: a long prompt must not hold other streams up.
    static constexpr size_t kMostAtOnce = 8192;

    void add(const std::vector<llama_token> & tokens, size_t end);
    void grow(const std::vector<llama_token> & tokens, size_t n_tokens);

    // For each n-gram size: by hash, the index behind the n-gram's latest place. A collision overwrites, so that a lookup
    // compares the tokens and may miss, but never lies.
    std::array<std::vector<uint32_t>, kLongest - kShortest + 1> places_;
    size_t n_followed_ = 0;
};

}  // namespace svc
