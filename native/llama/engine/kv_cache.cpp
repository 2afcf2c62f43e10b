#include "kv_cache.h"

#include <algorithm>

#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

KvCache::KvCache(llama_context * context, const Options & options, const StepEstimates & estimates, std::function<void()> wake)
    : sequences_(context, options.sequences), estimates_(estimates) {
    if (options.saved.memory_bytes > 0) saved_ = std::make_unique<KvOffload>(options.saved, std::move(wake));
}

KvCache::Prefix KvCache::find_prefix(const Generation & generation) {
    Prefix prefix;
    const auto & job = *generation.job;
    if (!job.options.cache_prompt) return prefix;
    // One token stays to be evaluated: its logits start the answer.
    const size_t most = generation.tokens.size() - 1;
    prefix.source = sequences_.find_prefix(job.cache_key, generation.tokens, most, prefix.n_common);
    if (saved_) prefix.saved = saved_->find(job.cache_key, generation.tokens, most);
    if (prefix.saved.n_common < prefix.n_common + kTuning.worth_saving_tokens ||
        (generation.fetched && !prefix.saved.in_memory) ||
        !is_faster_restored(prefix.saved, prefix.saved.n_common - prefix.n_common)) {
        prefix.saved = {};
    }
    const size_t least =
        std::max(prefix.n_common, prefix.saved.n_common) + std::max(kTuning.worth_waiting_tokens, sequences_.n_worth_sharing());
    if (const auto owner = running_prompts_.find(generation, least, most); owner.id) return {nullptr, 0, {}, owner};
    if (prefix.saved.id) {
        prefix.source = nullptr;
        prefix.n_common = prefix.saved.n_common;
    }
    return prefix;
}

// Whether bringing a saved state back takes less time than to evaluate the tokens that it saves.
bool KvCache::is_faster_restored(const KvOffload::Match & saved, size_t n_more) {
    if (!estimates_.is_known()) return true;
    const auto n = static_cast<double>(n_more);
    const double evaluate_ms = estimates_.rows_ms(n, static_cast<double>(saved.n_common) - n);
    const double measured = sequences_.copier().bytes_per_ms();
    double copy_ms = static_cast<double>(saved.bytes) / (measured > 0 ? measured : kTuning.assumed_copy_bytes_per_ms);
    if (!saved.in_memory) {
        const double disk = saved_->read_bytes_per_ms();
        copy_ms += static_cast<double>(saved.bytes) / (disk > 0 ? disk : kTuning.assumed_disk_bytes_per_ms);
    }
    if (copy_ms < evaluate_ms) return true;
    // Copying that is never done is never measured again: now and then it is done all the same.
    if (++n_not_restored_ < kTuning.restore_probe_refusals) return false;
    n_not_restored_ = 0;
    return true;
}

bool KvCache::has_capacity(const Generation & generation, const Prefix & prefix, uint32_t n_running) const {
    // A saved state comes back whole and is then cut.
    const size_t n_tokens = std::max(generation.tokens.size(), prefix.saved.n_tokens);
    const auto n_new = static_cast<uint32_t>(n_tokens - (prefix.source ? prefix.n_common : 0));
    return n_running == 0 || sequences_.has_capacity(n_new + kTuning.reserve_tokens * (n_running + 1));
}

bool KvCache::fetch(Generation & generation, const Prefix & prefix) {
    if (!prefix.saved.id || prefix.saved.in_memory || !saved_->fetch(prefix.saved.id)) return false;
    generation.fetching = prefix.saved.id;
    return true;
}

bool KvCache::is_fetching(Generation & generation) {
    if (!generation.fetching) return false;
    if (saved_->is_fetching(generation.fetching)) return true;
    generation.fetching = 0;
    generation.fetched = true;
    return false;
}

bool KvCache::place(Generation & generation, const Prefix & prefix) {
    auto & job = *generation.job;
    const size_t n_kept = prefix.source ? prefix.n_common : 0;
    if (!save_before_evict(prefix.source, n_kept)) return false;
    generation.sequence = sequences_.acquire(job.cache_key, prefix.source, n_kept, job.options.cache_prompt);
    if (!generation.sequence) return false;
    generation.prefix_owner = prefix.owner.id;
    generation.n_awaited = prefix.owner.n_common;
    const bool restored = prefix.saved.id && restore(generation, prefix.saved);
    if (generation.prefix_owner) {
        generation.state = Generation::State::WaitingForPrefix;
        return true;
    }
    generation.state = generation.sequence->filling ? Generation::State::SwappingIn : Generation::State::Prefill;
    if (generation.sequence->shareable) running_prompts_.announce(generation);
    // What it finds later may be its own.
    if (generation.choice == 0 && !generation.placed)
        job.n_cached = restored ? prefix.n_common : std::min(n_kept, generation.sequence->tokens.size());
    generation.placed = true;
    return true;
}

// False: the sequence that would be evicted is being saved first.
bool KvCache::save_before_evict(Sequence * source, size_t n_common) {
    if (!saved_) return true;
    auto * target = sequences_.choose(source, n_common);
    if (!target || target->evictable || Sequences::n_lost(*target, source, n_common) < kTuning.worth_saving_tokens) return true;
    if (!sequences_.is_saving()) save(*target, [] {});
    return !sequences_.is_saving();
}

bool KvCache::restore(Generation & generation, const KvOffload::Match & saved) {
    auto state = saved_->get(saved.id);
    if (!state || !sequences_.free_cells(saved.n_tokens)) return false;
    auto & sequence = *generation.sequence;
    if (!sequences_.restore(sequence, saved_->tokens(saved.id), state, saved.n_common)) {
        saved_->drop(saved.id);
        return false;
    }
    n_hits_++;
    n_restored_tokens_ += saved.n_common;
    return true;
}

void KvCache::resume_waiting(Generation & generation) {
    const auto * owner = running_prompts_.generation_of(generation.prefix_owner);
    if (owner && (owner->sequence->filling || owner->sequence->tokens.size() < generation.n_awaited)) return;
    sequences_.release(*generation.sequence);
    generation.sequence = nullptr;
    generation.state = Generation::State::Waiting;
    generation.fetched = true;  // it does not wait again, for the disk
    const auto status = catch_status([&] { place(generation, find_prefix(generation)); });
    // It waits without a sequence, and is admitted as others are.
    if (!status.code.empty() && generation.state == Generation::State::Waiting) release(generation);
}

void KvCache::release(Generation & generation) {
    running_prompts_.withdraw(generation);
    if (!generation.sequence) return;
    sequences_.release(*generation.sequence);
    sequences_.trim();
    generation.sequence = nullptr;
}

void KvCache::append(Generation & generation, const llama_token * tokens, size_t count, llama_pos n_pos) {
    sequences_.append(*generation.sequence, tokens, count, n_pos);
    if (generation.n_remaining_prefill() == 0) running_prompts_.withdraw(generation);
}

bool KvCache::save(Sequence & sequence, std::function<void()> then) {
    if (std::find(sequence.tokens.begin(), sequence.tokens.end(), LLAMA_TOKEN_NULL) != sequence.tokens.end()) {
        // Prefixes with images are never found again.
        sequence.evictable = true;
        return false;
    }
    bool is_held = false;
    bool is_saving = false;
    // Where there is no memory for it, it is evicted unsaved.
    catch_status([&] {
        is_held = saved_->holds(sequence.key, sequence.tokens);
        if (is_held) return;
        is_saving = sequences_.save(sequence, saved_->most_bytes(),
                                    [this, key = sequence.key, tokens = sequence.tokens, then](auto state) {
                                        if (state) saved_->put(key, tokens, std::move(state));
                                        then();
                                    });
    });
    if (!is_held) return is_saving;
    sequence.evictable = true;
    then();
    return true;
}

void KvCache::poll() {
    if (saved_) saved_->poll();
}

void KvCache::save_next() {
    if (!saved_) return;
    auto * next = sequences_.is_saving() ? nullptr : sequences_.next_to_save();
    if (next) save(*next, [] {});  // or it need not be
    sequences_.trim();
}

void KvCache::publish(EngineStats & stats) {
    stats.n_cells_used = sequences_.n_used();
    stats.kv_copy_bytes_per_ms = static_cast<float>(sequences_.copier().bytes_per_ms());
    stats.n_tier_hits = n_hits_;
    stats.n_restored_tokens = n_restored_tokens_;
    if (!saved_) return;
    stats.n_tier_memory_bytes = saved_->memory_bytes();
    stats.n_tier_disk_bytes = saved_->disk_bytes();
    stats.kv_disk_bytes_per_ms = static_cast<float>(saved_->read_bytes_per_ms());
}

}  // namespace svc
