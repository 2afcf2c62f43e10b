#include "running_prompts.h"

namespace svc {

namespace {

// Prompts with a common prefix that are looked at.
constexpr size_t kMostLeaders = 16;

}  // namespace

void RunningPrompts::announce(Generation & generation) {
    generation.plan = next_++;
    owners_[generation.plan] = &generation;
    prompts_.insert(generation.plan, generation.job->cache_key, generation.tokens.data(), generation.tokens.size());
}

void RunningPrompts::withdraw(Generation & generation) {
    if (generation.plan == 0) return;
    prompts_.erase(generation.plan);
    owners_.erase(generation.plan);
    generation.plan = 0;
}

RunningPrompts::Leader RunningPrompts::find(const Generation & generation, size_t least, size_t most) const {
    for (const auto & [owner, n_common] : prompts_.find(generation.job->cache_key, generation.tokens, most, kMostLeaders)) {
        if (n_common < least) break;
        auto * found = owners_.at(owner);
        if (found != &generation) return {found, n_common};
    }
    return {};
}

}  // namespace svc
