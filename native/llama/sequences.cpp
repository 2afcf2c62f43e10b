#include "sequences.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace svc {

namespace {

// Cached prefixes in a common buffer slow every step down, since attention passes over their cells.
constexpr size_t kIdleCells = 4096;

// Sequences with a common prefix that are looked at before one is chosen.
constexpr size_t kMostCandidates = 16;

// Taking an idle sequence over saves one; copying it keeps what another request may continue.
bool can_take_over(const Sequence & sequence, size_t n_common) {
    return !sequence.busy && n_common * 2 >= sequence.tokens.size();
}

}  // namespace

Sequences::Sequences(llama_context * context, uint32_t n_sequences, uint32_t n_cells, Sharing sharing)
    : memory_(llama_get_memory(context)), n_cells_(n_cells), sharing_(sharing), sequences_(n_sequences), cells_(n_sequences) {
    for (uint32_t i = 0; i < n_sequences; i++) sequences_[i].id = static_cast<llama_seq_id>(i);
}

Sequence * Sequences::find_prefix(const std::string & key, const std::vector<llama_token> & tokens, size_t most,
                                  size_t & n_common) {
    Sequence * best = nullptr;
    n_common = 0;
    if (sharing_ == Sharing::None) return best;
    for (const auto & [owner, common] : tree_.find(key, tokens, most, kMostCandidates)) {
        auto & sequence = sequences_[owner];
        if (common <= n_common || (!can_take_over(sequence, common) && common < n_worth_sharing())) continue;
        best = &sequence;
        n_common = common;
    }
    return best;
}

Sequence * Sequences::acquire(const std::string & key, Sequence * source, size_t n_common, bool shareable) {
    Sequence * target = source && can_take_over(*source, n_common) ? source : idle_victim(source);
    if (!target && source && !source->busy) target = source;
    if (!target) return nullptr;
    if (target == source) {
        if (!cut(*target, n_common)) clear(*target);
    } else {
        clear(*target);
        if (source && n_common > 0) share(*source, *target, n_common);
    }
    target->n_pos = static_cast<llama_pos>(target->tokens.size());
    target->key = key;
    target->busy = true;
    target->shareable = shareable && sharing_ != Sharing::None;
    target->last_used = ++clock_;
    index(*target);
    return target;
}

void Sequences::index(Sequence & sequence) {
    const auto owner = static_cast<PrefixTree::Owner>(sequence.id);
    tree_.erase(owner);
    if (sequence.shareable) tree_.insert(owner, sequence.key, sequence.tokens.data(), sequence.tokens.size());
}

void Sequences::share(Sequence & source, Sequence & target, size_t n_common) {
    target.tokens.assign(source.tokens.begin(), source.tokens.begin() + static_cast<std::ptrdiff_t>(n_common));
    source.last_used = ++clock_;
    if (sharing_ == Sharing::Copies) {
        llama_memory_seq_cp(memory_, source.id, target.id, -1, -1);
        llama_memory_seq_rm(memory_, target.id, static_cast<llama_pos>(n_common), -1);
        take_cells(target, n_common);
        return;
    }
    llama_memory_seq_cp(memory_, source.id, target.id, 0, static_cast<llama_pos>(n_common));
    const auto & from = cells_[static_cast<size_t>(source.id)];
    auto & to = cells_[static_cast<size_t>(target.id)];
    to.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(n_common));
    for (auto cell : to) references_[cell]++;
}

void Sequences::release(Sequence & sequence) {
    sequence.busy = false;
    sequence.last_used = ++clock_;
    if (!sequence.shareable) clear(sequence);
}

void Sequences::append(Sequence & sequence, const llama_token * tokens, size_t count, llama_pos n_pos) {
    sequence.tokens.insert(sequence.tokens.end(), tokens, tokens + count);
    sequence.n_pos = n_pos;
    if (sequence.shareable) tree_.append(static_cast<PrefixTree::Owner>(sequence.id), tokens, count);
    take_cells(sequence, count);
}

void Sequences::take_cells(Sequence & sequence, size_t count) {
    auto & cells = cells_[static_cast<size_t>(sequence.id)];
    for (size_t i = 0; i < count; i++) {
        if (free_cells_.empty()) {
            cells.push_back(static_cast<uint32_t>(references_.size()));
            references_.push_back(1);
        } else {
            cells.push_back(free_cells_.back());
            free_cells_.pop_back();
            references_[cells.back()] = 1;
        }
    }
    n_used_ += static_cast<uint32_t>(count);
}

bool Sequences::evict() {
    Sequence * victim = nullptr;
    for (auto & sequence : sequences_) {
        if (sequence.busy || sequence.tokens.empty()) continue;
        if (!victim || sequence.last_used < victim->last_used) victim = &sequence;
    }
    if (!victim) return false;
    clear(*victim);
    return true;
}

void Sequences::trim() {
    if (sharing_ != Sharing::Cells) return;
    size_t n_idle = 0;
    size_t n_busy = 0;
    for (const auto & sequence : sequences_) (sequence.busy ? n_busy : n_idle) += sequence.tokens.size();
    while (n_idle > std::max(kIdleCells, n_busy)) {
        const uint32_t before = n_used_;
        if (!evict()) return;
        n_idle -= std::min<size_t>(n_idle, std::max<uint32_t>(1, before - n_used_));
    }
}

bool Sequences::has_room(uint32_t n_new) const {
    if (sharing_ == Sharing::Copies) return true;  // every sequence has its own share
    std::vector<bool> held(references_.size());
    uint32_t n_held = 0;
    for (const auto & sequence : sequences_) {
        if (!sequence.busy) continue;
        for (auto cell : cells_[static_cast<size_t>(sequence.id)]) {
            if (!held[cell]) n_held++;
            held[cell] = true;
        }
    }
    return n_held + n_new <= n_cells_;
}

uint32_t Sequences::n_idle() const {
    return static_cast<uint32_t>(std::count_if(sequences_.begin(), sequences_.end(), [](const Sequence & s) { return !s.busy; }));
}

void Sequences::clear(Sequence & sequence) {
    llama_memory_seq_rm(memory_, sequence.id, -1, -1);
    drop_cells(sequence, 0);
    tree_.erase(static_cast<PrefixTree::Owner>(sequence.id));
    sequence.tokens.clear();
    sequence.n_pos = 0;
    sequence.shareable = false;
    sequence.key.clear();
}

// False when the memory cannot cut there (recurrent state); the sequence must then be cleared.
bool Sequences::cut(Sequence & sequence, size_t n_keep) {
    if (n_keep < sequence.tokens.size() && !llama_memory_seq_rm(memory_, sequence.id, static_cast<llama_pos>(n_keep), -1))
        return false;
    drop_cells(sequence, n_keep);
    sequence.tokens.resize(n_keep);
    return true;
}

void Sequences::drop_cells(Sequence & sequence, size_t from) {
    auto & cells = cells_[static_cast<size_t>(sequence.id)];
    for (size_t i = from; i < cells.size(); i++) {
        if (--references_[cells[i]] > 0) continue;
        free_cells_.push_back(cells[i]);
        n_used_--;
    }
    cells.resize(std::min(from, cells.size()));
}

llama_pos Sequences::filler_pos(llama_seq_id id) const {
    const auto & sequence = sequences_[static_cast<size_t>(id)];
    const bool fits = static_cast<uint32_t>(sequence.n_pos) < n_cells_ / sequences_.size();
    return sharing_ == Sharing::Copies && fits ? sequence.n_pos : -1;
}

void Sequences::clear_filler(llama_seq_id id) { llama_memory_seq_rm(memory_, id, sequences_[static_cast<size_t>(id)].n_pos, -1); }

// An empty one or else the least recently used; with a buffer for each, rather one that leaves no gap between running ones.
Sequence * Sequences::idle_victim(const Sequence * except) {
    Sequence * best = nullptr;
    auto rank = [this](const Sequence & sequence) {
        const uint64_t last_used = sequence.tokens.empty() ? 0 : sequence.last_used;
        return std::pair(sharing_ == Sharing::Copies && !is_beside_busy(sequence), last_used);
    };
    for (auto & sequence : sequences_) {
        if (sequence.busy || &sequence == except) continue;
        if (!best || rank(sequence) < rank(*best)) best = &sequence;
    }
    return best;
}

// Inside the run of busy sequences, or next to it.
bool Sequences::is_beside_busy(const Sequence & sequence) const {
    bool below = false;
    bool above = false;
    for (const auto & other : sequences_) {
        if (!other.busy) continue;
        if (std::abs(other.id - sequence.id) == 1) return true;
        (other.id < sequence.id ? below : above) = true;
    }
    return below && above;
}

}  // namespace svc
