#include "preemption.h"

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

bool Preemption::preempt_for(const Job & candidate, const WaitingJobs & waiting) {
    if (preempt_slow_reader()) return true;
    auto * victim = find_victim(candidate, waiting);
    if (!victim) return false;
    preempt(*victim);
    return true;
}

bool Preemption::preempt_slow_reader() {
    auto * slow = find_slow_reader();
    if (!slow) return false;
    preempt(*slow);
    return true;
}

Generation * Preemption::find_slow_reader() const {
    const auto now = Clock::now().time_since_epoch().count();
    for (auto * generation : running_.generations()) {
        const auto & job = *generation->job;
        if (generation->state != Generation::State::Decode || !job.paused || !job.prompt.media.empty()) continue;
        if (Clock::duration(now - job.paused_since) >= kTuning.paused_grace) return generation;
    }
    return nullptr;
}

// A tenant that runs nothing need not wait for an end: of those that run several, the one that runs most gives up what holds
// least.
Generation * Preemption::find_victim(const Job & candidate, const WaitingJobs & waiting) const {
    const MemoryWait wait;
    auto running = running_.count_by_tenant();
    if (running[candidate.options.tenant] > 0) return nullptr;
    Generation * victim = nullptr;
    auto n_running = [&](const Generation & generation) { return running[generation.job->options.tenant]; };
    auto n_held = [](const Generation & generation) { return generation.sequence->tokens.size(); };
    for (auto * generation : running_.generations()) {
        const auto & job = *generation->job;
        if (!generation->active() || job.options.priority > candidate.options.priority || !job.prompt.media.empty()) continue;
        if (n_running(*generation) < 2 || waiting.is_behind(job.options.tenant, candidate.options.tenant)) continue;
        const bool is_better = !victim || n_running(*generation) > n_running(*victim) ||
                               (n_running(*generation) == n_running(*victim) && n_held(*generation) < n_held(*victim));
        if (is_better) victim = generation;
    }
    return victim;
}

void Preemption::swap_out_early() {
    auto & sequences = kv_.sequences();
    if (!kv_.saves() || swapping_out_ || sequences.n_idle_tokens() > 0 || sequences.is_saving()) return;
    const uint32_t n_running = running_.n_active();
    auto * youngest = running_.youngest_active();
    if (n_running < 2 || youngest->state != Generation::State::Decode || !youngest->sequence->shareable) return;
    const double copy_ms = static_cast<double>(sequences.bytes_of(*youngest->sequence)) / kTuning.assumed_copy_bytes_per_ms;
    const double n_steps = kTuning.save_ahead_steps + copy_ms / ms_of(kTuning.copy_slice);
    if (sequences.n_cells() - sequences.n_used() > n_steps * n_running) return;
    if (preempt_slow_reader()) return;
    swapping_out_ = youngest;
    youngest->state = Generation::State::SwappingOut;
    const bool saves = kv_.save(*youngest->sequence, [this, youngest] {
        if (swapping_out_ == youngest) end_swap_out(*youngest);
    });
    if (saves) return;
    swapping_out_ = nullptr;
    youngest->state = Generation::State::Decode;
}

Generation * Preemption::free_kv_cells() {
    if (kv_.sequences().evict()) return nullptr;
    if (swapping_out_) {
        take_cells(*swapping_out_);
        return nullptr;
    }
    auto * youngest = running_.youngest_active();
    if (!youngest) throw StatusError("internal", "the KV cache is full and nobody uses it");
    if (running_.n_active() == 1) return youngest;
    if (!preempt_slow_reader()) take_cells(*youngest);
    return nullptr;
}

// What the generation computed stays in the cache until that is needed, and is saved then.
void Preemption::preempt(Generation & generation) {
    release(generation);
    generation.state = Generation::State::Waiting;
}

// Those for which its cells were meant may have ended meanwhile.
void Preemption::end_swap_out(Generation & generation) {
    if (running_.n_active() > 1) return take_cells(generation);
    swapping_out_ = nullptr;
    generation.state = Generation::State::Decode;
}

// What was not saved of the generation is evaluated again when there are cells.
void Preemption::take_cells(Generation & generation) {
    generation.sequence->shareable = false;
    preempt(generation);
    is_holding_ = running_.n_active() > 0;
}

void Preemption::release(Generation & generation) {
    if (swapping_out_ == &generation) swapping_out_ = nullptr;
    if (generation.active()) is_holding_ = false;
    kv_.release(generation);
}

}  // namespace svc
