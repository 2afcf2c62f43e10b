#include "running_prompts.h"

#include "../../common/memory_wait.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

// What is there can be shared at once, or not at all.
bool has_computed(const Generation & generation, size_t n_tokens) {
    const auto * sequence = generation.sequence;
    return sequence && !sequence->filling && sequence->tokens.size() >= n_tokens;
}

}  // namespace

void RunningPrompts::announce(Generation & generation) {
    const MemoryWait wait;
    generation.announced = next_++;
    owners_[generation.announced] = &generation;
    prompts_.insert(generation.announced, generation.job->cache_key, generation.tokens.data(), generation.tokens.size());
}

void RunningPrompts::withdraw(Generation & generation) {
    const MemoryWait wait;
    if (generation.announced == 0) return;
    prompts_.erase(generation.announced);
    owners_.erase(generation.announced);
    generation.announced = 0;
}

RunningPrompts::Owner RunningPrompts::find(const Generation & generation, size_t least, size_t most) const {
    for (const auto & [owner, n_common] :
         prompts_.find(generation.job->cache_key, generation.tokens, most, kTuning.prefix_candidates)) {
        if (n_common < least) break;
        const auto * found = owners_.at(owner);
        if (found != &generation && !has_computed(*found, n_common)) return {owner, n_common};
    }
    return {};
}

const Generation * RunningPrompts::generation_of(PrefixTree::Owner owner) const {
    const auto found = owners_.find(owner);
    return found == owners_.end() ? nullptr : found->second;
}

}  // namespace svc
