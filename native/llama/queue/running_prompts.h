// Prompts that are being computed. One that begins like one of them may wait for it instead of computing the same again.
#pragma once

#include <unordered_map>

#include "../kv/prefix_tree.h"
#include "job.h"

namespace svc {

class RunningPrompts {
  public:
    // Stands for a generation that computes one; how many of its first tokens the other has too.
    struct Owner {
        PrefixTree::Owner id = 0;  // 0: none
        size_t n_common = 0;
    };

    // From now on others may wait for the generation's prompt, until withdraw(). It must live until then.
    void announce(Generation & generation);
    void withdraw(Generation & generation);
    // The owner with the most of the generation's first tokens, at least `least` and at most `most` of them.
    Owner find(const Generation & generation, size_t least, size_t most) const;
    // Null once the owner has computed its prompt or was stopped.
    const Generation * generation_of(PrefixTree::Owner owner) const;

  private:
    PrefixTree prompts_;
    std::unordered_map<PrefixTree::Owner, Generation *> owners_;  // by Generation::announced
    PrefixTree::Owner next_ = 1;
};

}  // namespace svc
