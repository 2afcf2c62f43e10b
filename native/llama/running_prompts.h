// Prompts that are being computed. Who begins like one of them may wait for it instead of computing the same again.
#pragma once

#include <unordered_map>

#include "job.h"
#include "prefix_tree.h"

namespace svc {

class RunningPrompts {
  public:
    // Who computes one, and how many of its first tokens the other has too.
    struct Leader {
        Generation * generation = nullptr;  // null: none
        size_t n_common = 0;
    };

    // From now on others may wait for the generation's prompt, until withdraw(). It must live until then.
    void announce(Generation & generation);
    void withdraw(Generation & generation);
    // Whoever has the most of the generation's first tokens, at least `least` and at most `most` of them.
    Leader find(const Generation & generation, size_t least, size_t most) const;

  private:
    PrefixTree prompts_;
    std::unordered_map<PrefixTree::Owner, Generation *> owners_;  // by Generation::plan
    PrefixTree::Owner next_ = 1;
};

}  // namespace svc
