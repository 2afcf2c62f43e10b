// States of sequences on the move: shared with another sequence, saved, and restored.
#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../tuning/tuning.h"
#include "sequences.h"

namespace svc {

void Sequences::share(Sequence & source, Sequence & target, size_t n_common) {
    source.last_used = ++clock_;
    if (sharing_ == Sharing::Copies && share_by_slices(source, target, n_common)) return;
    target.tokens.assign(source.tokens.begin(), source.tokens.begin() + static_cast<std::ptrdiff_t>(n_common));
    if (sharing_ == Sharing::Copies) {
        KvTransfer::copy_whole(context_, source.id, target.id);
        llama_memory_seq_rm(memory_, target.id, static_cast<llama_pos>(n_common), -1);
        cells_.take(target.id, n_common);
        return;
    }
    llama_memory_seq_cp(memory_, source.id, target.id, 0, static_cast<llama_pos>(n_common));
    cells_.share(source.id, target.id, n_common);
}

// llama.cpp copies a sequence's whole buffer, used or not, in one go; on a GPU that takes no time worth mentioning.
bool Sequences::share_by_slices(Sequence & source, Sequence & target, size_t n_common) {
    if (!is_complete(source.tokens.size())) return false;
    std::unique_ptr<KvTransfer> transfer;
    const auto status = catch_status([&] { transfer = KvTransfer::copy(context_, source.id, target.id); });
    if (!status.code.empty() || !transfer->is_host()) {
        llama_memory_seq_rm(memory_, target.id, -1, -1);
        return false;
    }
    target.tokens = source.tokens;
    fill(target, std::move(transfer), n_common, &source);
    return true;
}

bool Sequences::restore(Sequence & target, const std::vector<llama_token> & tokens, std::shared_ptr<const KvState> state,
                        size_t n_keep) {
    std::unique_ptr<KvTransfer> transfer;
    const auto status = catch_status([&] {
        target.tokens = tokens;
        transfer = KvTransfer::restore(context_, target.id, std::move(state));
    });
    if (!status.code.empty()) {
        target.tokens.clear();
        llama_memory_seq_rm(memory_, target.id, -1, -1);
        return false;
    }
    fill(target, std::move(transfer), n_keep, nullptr);
    return true;
}

void Sequences::fill(Sequence & target, std::unique_ptr<KvTransfer> transfer, size_t n_keep, Sequence * source) {
    const MemoryWait wait;
    cells_.take(target.id, target.tokens.size());
    target.filling = true;
    tree_.erase(static_cast<PrefixTree::Owner>(target.id));
    const uint32_t epoch = target.epoch;
    const auto holds_source = source ? cells_held_by(*source) : [] { return true; };
    if (source) source->n_readers++;
    copier_.add_urgent({std::move(transfer), [&target, epoch, holds_source] { return target.epoch == epoch && holds_source(); },
                        [this, &target, epoch, n_keep, source](KvTransfer &, bool whole) {
                            if (source) source->n_readers--;
                            if (target.epoch == epoch) end_filling(target, n_keep, whole);
                        }});
}

void Sequences::end_filling(Sequence & target, size_t n_keep, bool whole) {
    target.filling = false;
    cut(target, whole ? n_keep : 0);
    target.n_pos = static_cast<llama_pos>(target.tokens.size());
    index(target);
}

// Asks whether the cells that the sequence has now are still its own and as they were. A cell behind an attention window is given
// to the next token of any sequence that needs one (llama.cpp's find_slot), the sequence's own next turn included. llama.cpp then
// drops all positions up to that one, so the lowest position tells. Of a longer state a copy holds the window alone.
std::function<bool()> Sequences::cells_held_by(const Sequence & sequence) const {
    const auto lowest = [this, &sequence] { return n_window_ == 0 ? 0 : llama_memory_seq_pos_min(memory_, sequence.id); };
    const llama_pos n_before = sequence.n_pos - static_cast<llama_pos>(n_window_);
    return [&sequence, lowest, epoch = sequence.epoch, needed = std::max(lowest(), n_before)] {
        return sequence.epoch == epoch && lowest() <= needed;
    };
}

bool Sequences::save(Sequence & sequence, size_t most_bytes, std::function<void(std::shared_ptr<const KvState>)> saved) {
    if (sequence.filling || sharing_ == Sharing::None) return false;
    auto transfer = KvTransfer::save(context_, sequence.id);
    bytes_per_token_ =
        static_cast<double>(transfer->n_bytes()) / static_cast<double>(std::max<size_t>(1, sequence.tokens.size()));
    if (transfer->n_bytes() > most_bytes) {
        sequence.evictable = true;
        return false;
    }
    const MemoryWait wait;
    n_saving_++;
    copier_.add({std::move(transfer), cells_held_by(sequence),
                 [this, &sequence, n = sequence.tokens.size(), saved = std::move(saved)](KvTransfer & done, bool whole) {
                     n_saving_--;
                     if (!whole) return saved(nullptr);
                     sequence.evictable = sequence.tokens.size() == n;
                     saved(done.take());
                 }});
    return true;
}

// The sequence that would be evicted next, while nothing could without loss that leaves no open gap, and while something probably
// must.
Sequence * Sequences::next_to_save() {
    if (!saves_ || sharing_ == Sharing::None) return nullptr;
    const bool tight =
        sharing_ == Sharing::Cells && (cells_.n_free() < n_cells() / kTuning.tight_part || n_idle_tokens() > n_idle_limit());
    Sequence * next = nullptr;
    for (auto & sequence : sequences_) {
        if (sequence.busy) continue;
        const bool may_go = sequence.evictable || sequence.tokens.empty();
        if (may_go && !tight && gap_of(sequence) != Gap::Open) return nullptr;
        if (may_go) continue;
        if (!next || rank_of(sequence) < rank_of(*next)) next = &sequence;
    }
    return next;
}

}  // namespace svc
