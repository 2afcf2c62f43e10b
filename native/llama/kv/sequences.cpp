#include "sequences.h"

#include <algorithm>
#include <cstdlib>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

Sequences::Sequences(llama_context * context, Options options)
    : context_(context),
      memory_(llama_get_memory(context)),
      sharing_(options.sharing),
      n_window_(options.n_window),
      saves_(options.saves),
      copier_(options.n_copy_threads),
      sequences_(options.n_sequences),
      cells_(options.n_cells, options.n_sequences) {
    for (uint32_t i = 0; i < options.n_sequences; i++) sequences_[i].id = static_cast<llama_seq_id>(i);
}

Sequence * Sequences::find_prefix(const std::string & key, const std::vector<llama_token> & tokens, size_t most,
                                  size_t & n_common) {
    Sequence * best = nullptr;
    n_common = 0;
    if (sharing_ == Sharing::None) return best;
    for (const auto & [owner, common] : tree_.find(key, tokens, most, kTuning.prefix_candidates)) {
        auto & sequence = sequences_[owner];
        if (!can_continue(sequence, common)) continue;
        const bool takes_over = can_take_over(sequence, common);
        // A few tokens are not worth a gap.
        if (common < n_common || (common < n_worth_sharing() && (!takes_over || gap_of(sequence) != Gap::None))) continue;
        if (common == n_common && best && (can_take_over(*best, common) || !takes_over)) continue;
        best = &sequence;
        n_common = common;
    }
    return best;
}

// Whether the cells are there that a token behind the first `n_tokens` attends to. llama.cpp keeps all between the lowest and the
// highest position.
bool Sequences::can_continue(const Sequence & sequence, size_t n_tokens) const {
    if (n_window_ == 0 || n_tokens == sequence.tokens.size()) return true;
    const size_t first = n_tokens < n_window_ ? 0 : n_tokens + 1 - n_window_;
    return llama_memory_seq_pos_min(memory_, sequence.id) <= static_cast<llama_pos>(first);
}

// Taking an idle sequence over saves a copy; copying it keeps what another request may continue.
bool Sequences::can_take_over(const Sequence & sequence, size_t n_common) const {
    if (sequence.busy || sequence.n_readers > 0) return false;
    return n_lost(sequence, &sequence, n_common) < kTuning.worth_saving_tokens || sequence.evictable ||
           n_common * 2 >= sequence.tokens.size();
}

size_t Sequences::n_lost(const Sequence & target, const Sequence * source, size_t n_common) {
    return target.tokens.size() - (&target == source ? n_common : 0);
}

Sequence * Sequences::choose(Sequence * source, size_t n_common) {
    Sequence * victim = idle_victim(source, true);
    const bool is_free = victim && victim->tokens.empty();
    const bool loses = source && !source->evictable && n_lost(*source, source, n_common) >= kTuning.worth_saving_tokens;
    if (source && can_take_over(*source, n_common) && !(loses && is_free && n_common >= n_worth_sharing())) return source;
    if (!victim && source && !source->busy && source->n_readers == 0) return source;
    return victim;
}

Sequence * Sequences::acquire(const std::string & key, Sequence * source, size_t n_common, bool shareable) {
    const MemoryWait wait;
    Sequence * target = choose(source, n_common);
    if (!target) return nullptr;
    target->busy = true;
    target->shareable = false;
    if (target == source) {
        if (!cut(*target, n_common)) clear(*target);
    } else {
        clear(*target);
        // What cannot be shared is computed again.
        const auto status = catch_status([&] {
            if (source && n_common > 0) share(*source, *target, n_common);
        });
        if (!status.code.empty()) clear(*target);
    }
    target->n_pos = static_cast<llama_pos>(target->tokens.size());
    target->key = key;
    target->shareable = shareable && sharing_ != Sharing::None;
    target->last_used = ++clock_;
    index(*target);
    return target;
}

void Sequences::index(Sequence & sequence) {
    const auto owner = static_cast<PrefixTree::Owner>(sequence.id);
    tree_.erase(owner);
    if (sequence.shareable && !sequence.filling)
        tree_.insert(owner, sequence.key, sequence.tokens.data(), sequence.tokens.size());
}

void Sequences::release(Sequence & sequence) {
    sequence.busy = false;
    sequence.last_used = ++clock_;
    if (!sequence.shareable || sequence.filling) clear(sequence);
    // Nobody would miss it.
    else if (sequence.tokens.size() < kTuning.worth_saving_tokens) sequence.evictable = true;
}

void Sequences::append(Sequence & sequence, const llama_token * tokens, size_t count, llama_pos n_pos) {
    const MemoryWait wait;
    sequence.tokens.insert(sequence.tokens.end(), tokens, tokens + count);
    sequence.n_pos = n_pos;
    sequence.evictable = false;
    if (sequence.shareable) tree_.append(static_cast<PrefixTree::Owner>(sequence.id), tokens, count);
    cells_.take(sequence.id, count);
}

void Sequences::drop_unrecorded(const Sequence & sequence) { llama_memory_seq_rm(memory_, sequence.id, sequence.n_pos, -1); }

bool Sequences::roll_back(Sequence & sequence, size_t n_rows) {
    // Rows of a later physical batch may lie where those were that the window had left behind.
    const bool has_window_moved = n_rows > 1 && !is_complete(sequence.tokens.size() + n_rows);
    if (!has_window_moved && llama_memory_seq_rm(memory_, sequence.id, sequence.n_pos, -1)) return true;
    clear(sequence);
    return false;
}

void Sequences::reset() {
    for (auto & sequence : sequences_) clear(sequence);
    llama_memory_clear(memory_, false);
}

// The oldest that may go without loss, or else the oldest.
bool Sequences::evict() {
    Sequence * victim = idle_victim(nullptr, false);
    if (!victim) return false;
    clear(*victim);
    return true;
}

size_t Sequences::n_idle_tokens() const {
    size_t n = 0;
    for (const auto & sequence : sequences_) n += sequence.busy ? 0 : sequence.tokens.size();
    return n;
}

size_t Sequences::n_idle_limit() const {
    size_t n_busy = 0;
    for (const auto & sequence : sequences_) n_busy += sequence.busy ? sequence.tokens.size() : 0;
    return std::max(kTuning.idle_cells, n_busy);
}

void Sequences::trim() {
    if (sharing_ != Sharing::Cells) return;
    const size_t limit = n_idle_limit();
    while (n_idle_tokens() > limit) {
        // What is to be saved first will be.
        const auto * victim = idle_victim(nullptr, false);
        if (saves_ && !victim->evictable) return;
        evict();
    }
}

bool Sequences::free_cells(size_t count) {
    if (sharing_ == Sharing::Copies) return true;
    while (cells_.n_free() < count) {
        if (!evict()) return false;
    }
    return true;
}

bool Sequences::has_capacity(uint32_t n_new) const {
    if (sharing_ == Sharing::Copies) return true;  // every sequence has its own share
    std::vector<llama_seq_id> busy;
    for (const auto & sequence : sequences_) {
        if (sequence.busy) busy.push_back(sequence.id);
    }
    return cells_.n_held(busy) + n_new <= n_cells();
}

uint32_t Sequences::n_idle() const {
    return static_cast<uint32_t>(std::count_if(sequences_.begin(), sequences_.end(), [](const Sequence & s) { return !s.busy; }));
}

void Sequences::clear(Sequence & sequence) {
    llama_memory_seq_rm(memory_, sequence.id, -1, -1);
    cells_.drop(sequence.id, 0);
    tree_.erase(static_cast<PrefixTree::Owner>(sequence.id));
    sequence.tokens.clear();
    sequence.n_pos = 0;
    sequence.shareable = false;
    sequence.filling = false;
    sequence.evictable = false;
    sequence.epoch++;
    sequence.key.clear();
}

// False when the memory cannot cut there (recurrent state); the sequence must then be cleared.
bool Sequences::cut(Sequence & sequence, size_t n_keep) {
    const MemoryWait wait;
    if (n_keep < sequence.tokens.size() && !llama_memory_seq_rm(memory_, sequence.id, static_cast<llama_pos>(n_keep), -1))
        return false;
    if (n_keep < sequence.tokens.size()) sequence.epoch++;
    cells_.drop(sequence.id, n_keep);
    sequence.tokens.resize(n_keep);
    return true;
}

bool Sequences::can_fill(llama_seq_id from, llama_seq_id to) const {
    double n_rows = 0;
    for (auto id = from; id < to; id++) {
        const auto & sequence = sequences_[static_cast<size_t>(id)];
        const bool fits = static_cast<uint32_t>(sequence.n_pos) < n_cells() / sequences_.size();
        if (sharing_ != Sharing::Copies || !fits || sequence.filling) return false;
        n_rows += 1 + sequence.n_pos / kTuning.padding_tokens_per_row;
        if (n_rows > kTuning.padding_rows_most) return false;
    }
    return true;
}

llama_pos Sequences::padding_pos(llama_seq_id id) const { return sequences_[static_cast<size_t>(id)].n_pos; }

void Sequences::clear_padding(llama_seq_id id) {
    llama_memory_seq_rm(memory_, id, sequences_[static_cast<size_t>(id)].n_pos, -1);
}

Sequence * Sequences::idle_victim(const Sequence * except, bool may_be_empty) {
    Sequence * best = nullptr;
    for (auto & sequence : sequences_) {
        if (sequence.busy || sequence.n_readers > 0 || &sequence == except) continue;
        if (sequence.tokens.empty() && !may_be_empty) continue;
        if (!best || rank_of(sequence) < rank_of(*best)) best = &sequence;
    }
    return best;
}

// Rather one without a gap between it and the running ones that no rows can fill: every step would pay for that, and a state is
// saved once. Then one that may go without loss, one without any gap, an empty one or else the least recently used.
Sequences::Rank Sequences::rank_of(const Sequence & sequence) const {
    const bool is_empty = sequence.tokens.empty();
    const bool loses = saves_ && !is_empty && !sequence.evictable;
    const auto gap = gap_of(sequence);
    return {gap == Gap::Open, loses, gap, is_empty ? 0 : sequence.last_used};
}

// Between the sequence and those that run, with a buffer for each. Inside their run it rather closes one.
Sequences::Gap Sequences::gap_of(const Sequence & sequence) const {
    if (sharing_ != Sharing::Copies) return Gap::None;
    llama_seq_id below = -1;
    llama_seq_id above = -1;
    for (const auto & other : sequences_) {
        if (!other.busy) continue;
        if (other.id < sequence.id) below = other.id;
        else if (other.id > sequence.id && above < 0) above = other.id;
    }
    if ((below < 0) == (above < 0)) return Gap::None;
    const llama_seq_id from = below < 0 ? sequence.id + 1 : below + 1;
    const llama_seq_id to = below < 0 ? above : sequence.id;
    if (from == to) return Gap::None;
    return can_fill(from, to) ? Gap::Filled : Gap::Open;
}

}  // namespace svc
