// What a generation starts from, and what becomes of sequences that give way: prefixes of live sequences, saved states, room.
#include <algorithm>

#include "engine.h"

namespace svc {

namespace {

// A prefix that another generation is still computing is worth waiting for when it saves at least this many tokens.
constexpr size_t kWorthFollowing = 32;
// Cells that stay free for each admitted generation's own tokens.
constexpr uint32_t kReservePerGeneration = 32;
// What copying may add to a step that others wait for, and to one that nobody does.
constexpr auto kSlice = std::chrono::milliseconds(3);
constexpr auto kIdleSlice = std::chrono::milliseconds(10);
// The same when somebody waits for the copy: prompts of a burst would otherwise begin many steps late.
constexpr auto kAwaitedSlice = std::chrono::milliseconds(20);
constexpr auto kIdleAwaitedSlice = std::chrono::milliseconds(40);
// Until the first copies are measured.
constexpr double kAssumedBytesPerMs = 1e6;
constexpr double kAssumedDiskBytesPerMs = 2e5;
// Steps that the cells should last for when nobody has to be preempted.
constexpr double kStepsAhead = 8;

}  // namespace

// How long the copying between two steps may take.
Clock::duration Engine::copy_slice() const {
    const bool anyone = std::any_of(generations_.begin(), generations_.end(), [](const Generation * g) {
        return g->state == Generation::State::Prefill || g->state == Generation::State::Decode;
    });
    const bool awaited = !waiting_.empty() || std::any_of(generations_.begin(), generations_.end(), [](const Generation * g) {
        return g->state == Generation::State::Filling || g->state == Generation::State::Waiting;
    });
    if (awaited) return anyone ? kAwaitedSlice : kIdleAwaitedSlice;
    return anyone ? kSlice : kIdleSlice;
}

// Between steps: who waits for cells gets them, a slice of the copying that this takes is done, and jobs are admitted.
void Engine::move_states() {
    const auto until = Clock::now() + copy_slice();
    if (tier_) {
        tier_->poll();
        if (auto trouble = tier_->take_trouble(); !trouble.empty()) tell({"internal", trouble});
        leave_early();
        auto * next = sequences_->is_saving() ? nullptr : sequences_->next_to_save();
        if (next) save(*next, [] {});  // or it need not be
        sequences_->trim();
    }
    copy_states(until);
    follow_leaders();
    admit();
    copy_states(until);
}

// Tells JS what belongs to no job.
void Engine::tell(const Status & notice) {
    Bytes out;
    write_error(kNoJob, notice, out);
    channel_->append(out.view());
    channel_->ring();
}

// Whether what it will start from is still on its way from the disk.
bool Engine::is_fetching(Generation & generation) {
    if (!generation.fetching) return false;
    if (tier_->is_fetching(generation.fetching)) return true;
    generation.fetching = 0;
    generation.fetched = true;
    return false;
}

void Engine::copy_states(Clock::time_point until) {
    if (!sequences_->copier().has_work()) return;
    sequences_->copier().advance(until);
    for (auto * generation : generations_) {
        if (generation->state == Generation::State::Filling && !generation->sequence->filling)
            generation->state = Generation::State::Prefill;
    }
}

// Finds what need not be computed: a prefix that lies in the cache, one that was saved, or one that a running prefill is about to
// put there.
Engine::PrefixPlan Engine::plan_prefix(const Generation & generation) {
    PrefixPlan plan;
    const auto & job = *generation.job;
    if (!job.options.cache_prompt) return plan;
    // One token stays to be evaluated: its logits start the answer.
    const size_t most = generation.tokens.size() - 1;
    plan.source = sequences_->find_prefix(job.cache_key, generation.tokens, most, plan.n_common);
    if (tier_) plan.saved = tier_->find(job.cache_key, generation.tokens, most);
    if (plan.saved.n_common < plan.n_common + Sequences::kWorthSaving || (generation.fetched && !plan.saved.in_memory) ||
        !pays(plan.saved, plan.saved.n_common - plan.n_common)) {
        plan.saved = {};
    }
    const size_t least = std::max(plan.n_common, plan.saved.n_common) + std::max(kWorthFollowing, sequences_->n_worth_sharing());
    if (const auto leader = running_prompts_.find(generation, least, most); leader.generation) return {nullptr, 0, {}, leader};
    if (plan.saved.id) {
        plan.source = nullptr;
        plan.n_common = plan.saved.n_common;
    }
    return plan;
}

// Whether bringing a saved state back takes less time than to evaluate the tokens that it saves.
bool Engine::pays(const KvTier::Match & saved, size_t n_more) const {
    if (!budget_->cost().is_known()) return true;
    const auto n = static_cast<double>(n_more);
    const double evaluate_ms = budget_->cost().ms(n, static_cast<double>(saved.n_common) - n);
    const double measured = sequences_->copier().bytes_per_ms();
    double copy_ms = static_cast<double>(saved.bytes) / (measured > 0 ? measured : kAssumedBytesPerMs);
    if (!saved.in_memory) {
        const double disk = tier_->read_bytes_per_ms();
        copy_ms += static_cast<double>(saved.bytes) / (disk > 0 ? disk : kAssumedDiskBytesPerMs);
    }
    return copy_ms < evaluate_ms;
}

// False: the prompt has to wait until others finish. Everyone who runs keeps some cells to grow into.
bool Engine::has_room(const Generation & generation, const PrefixPlan & plan) const {
    const uint32_t n_running = n_active();
    // A saved state comes back whole and is then cut.
    const size_t n_tokens = std::max(generation.tokens.size(), plan.saved.n_tokens);
    const auto n_new = static_cast<uint32_t>(n_tokens - (plan.source ? plan.n_common : 0));
    return n_running == 0 || sequences_->has_room(n_new + kReservePerGeneration * (n_running + 1));
}

// Gives the generation a sequence, as planned. False: none can be had now.
bool Engine::place(Generation & generation, const PrefixPlan & plan) {
    auto & job = *generation.job;
    const size_t n_kept = plan.source ? plan.n_common : 0;
    if (!clear_the_way(plan.source, n_kept)) return false;
    generation.sequence = sequences_->acquire(job.cache_key, plan.source, n_kept, job.options.cache_prompt);
    if (!generation.sequence) return false;
    generation.leader = plan.leader.generation;
    generation.follow_tokens = plan.leader.n_common;
    const bool restored = plan.saved.id && restore(generation, plan.saved);
    if (generation.leader) {
        generation.state = Generation::State::Following;
        return true;
    }
    generation.state = generation.sequence->filling ? Generation::State::Filling : Generation::State::Prefill;
    if (generation.sequence->shareable) running_prompts_.announce(generation);
    // What it finds later may be its own.
    if (generation.choice == 0 && !generation.placed) job.n_cached = restored ? plan.n_common : n_kept;
    generation.placed = true;
    return true;
}

// False: who would give way is being saved first.
bool Engine::clear_the_way(Sequence * source, size_t n_common) {
    if (!tier_) return true;
    auto * target = sequences_->choose(source, n_common);
    if (!target || target->dispensable || Sequences::n_lost(*target, source, n_common) < Sequences::kWorthSaving) return true;
    if (!sequences_->is_saving()) save(*target, [] {});
    return !sequences_->is_saving();
}

bool Engine::restore(Generation & generation, const KvTier::Match & saved) {
    auto state = tier_->get(saved.id);
    if (!state || !sequences_->free_cells(saved.n_tokens)) return false;
    auto & sequence = *generation.sequence;
    if (!sequences_->restore(sequence, tier_->tokens(saved.id), state, saved.n_common)) {
        tier_->drop(saved.id);
        return false;
    }
    stats_.n_tier_hits++;
    stats_.n_restored_tokens += saved.n_common;
    return true;
}

// Puts the sequence's state into the tier, over some steps; `then` is called when it is there. False: it cannot be saved.
bool Engine::save(Sequence & sequence, std::function<void()> then) {
    if (std::find(sequence.tokens.begin(), sequence.tokens.end(), LLAMA_TOKEN_NULL) != sequence.tokens.end()) {
        // Prefixes with images are never found again.
        sequence.dispensable = true;
        return false;
    }
    if (tier_->holds(sequence.key, sequence.tokens)) {
        sequence.dispensable = true;
        then();
        return true;
    }
    return sequences_->save(sequence, tier_->most_bytes(),
                            [this, key = sequence.key, tokens = sequence.tokens, then = std::move(then)](auto state) {
                                tier_->put(key, tokens, std::move(state));
                                then();
                            });
}

// When the cells of a common buffer run low, the youngest generation's state is saved while the others run on.
void Engine::leave_early() {
    if (leaving_ || sequences_->n_idle_tokens() > 0 || sequences_->is_saving()) return;
    const uint32_t n_running = n_active();
    auto * youngest = youngest_active();
    if (n_running < 2 || youngest->state != Generation::State::Decode || !youngest->sequence->shareable) return;
    const double copy_ms = static_cast<double>(sequences_->bytes_of(*youngest->sequence)) / kAssumedBytesPerMs;
    const double n_steps = kStepsAhead + copy_ms / ms_of(kSlice);
    if (sequences_->n_cells() - sequences_->n_used() > n_steps * n_running) return;
    if (set_sleeper_aside()) return;
    leaving_ = youngest;
    youngest->state = Generation::State::Leaving;
    const bool saves = save(*youngest->sequence, [this, youngest] {
        if (leaving_ == youngest) preempt(*youngest);
    });
    if (saves) return;
    leaving_ = nullptr;
    youngest->state = Generation::State::Decode;
}

// A follower starts when its leader has computed the shared part, or looks again when the leader is gone.
void Engine::follow_leaders() {
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Following) continue;
        auto * leader = generation->leader;
        const bool leads = std::find(generations_.begin(), generations_.end(), leader) != generations_.end() && leader->plan != 0;
        if (leads && (leader->sequence->filling || leader->sequence->tokens.size() < generation->follow_tokens)) continue;
        sequences_->release(*generation->sequence);
        generation->sequence = nullptr;
        generation->state = Generation::State::Waiting;
        generation->fetched = true;  // it does not wait again, for the disk
        place(*generation, plan_prefix(*generation));
    }
}

}  // namespace svc
