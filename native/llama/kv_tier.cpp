#include "kv_tier.h"

#include <algorithm>

#include "../common/status.h"

namespace svc {

namespace {

// States with a common prefix that are looked at before one is chosen.
constexpr size_t kMostCandidates = 16;
// From here on states are written to disk ahead of need, so that memory can be had at once.
constexpr double kWriteFrom = 0.5;

}  // namespace

KvTier::KvTier(Options options, std::function<void()> wake) : options_(std::move(options)) {
    if (options_.disk_bytes == 0 || options_.folder.empty()) return;
    // Without a folder that can be written, memory is all there is; whoever made the folder knows and says so.
    catch_status([&] { disk_ = std::make_unique<KvDisk>(options_.folder, std::move(wake)); });
}

KvTier::~KvTier() {
    for (const auto & [id, entry] : entries_) {
        if (entry.on_disk || entry.writing) disk_->remove(id);
    }
}

KvTier::Match KvTier::find(const std::string & key, const Tokens & tokens, size_t most) const {
    Match best;
    for (const auto & [id, n_common] : tree_.find(key, tokens, most, kMostCandidates)) {
        const auto & entry = entries_.at(id);
        // A copied state lacks what had left the window: cut back, it would miss some of it.
        const bool whole = options_.n_window == 0 || entry.tokens.size() <= options_.n_window;
        if (!whole && n_common < entry.tokens.size()) continue;
        // Of equals, the one that costs least to bring back.
        if (n_common < best.n_common) break;
        if (best.id && (best.in_memory > (entry.state != nullptr) || best.bytes <= entry.bytes)) continue;
        best = {id, n_common, entry.tokens.size(), entry.bytes, entry.state != nullptr};
    }
    return best;
}

bool KvTier::holds(const std::string & key, const Tokens & tokens) const {
    return find(key, tokens, tokens.size()).n_common == tokens.size();
}

void KvTier::put(const std::string & key, const Tokens & tokens, std::shared_ptr<const KvState> state) {
    const size_t bytes = state->bytes() + tokens.size() * sizeof(llama_token);
    supersede(key, tokens);
    if (!make_memory(bytes)) return;
    const Id id = next_id_++;
    auto & entry = entries_[id];
    entry.tokens = tokens;
    entry.bytes = bytes;
    entry.state = std::move(state);
    entry.recency = recency_.insert(recency_.end(), id);
    memory_bytes_ += bytes;
    tree_.insert(id, key, tokens.data(), tokens.size());
    all_written_ = false;
    write_behind();
}

// A state that the new one begins with is of no more use.
void KvTier::supersede(const std::string & key, const Tokens & tokens) {
    for (const auto & [id, n_common] : tree_.find(key, tokens, tokens.size(), kMostCandidates)) {
        if (entries_.at(id).tokens.size() == n_common) drop(id);
    }
}

std::shared_ptr<const KvState> KvTier::get(Id id) {
    auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    touch(found->second, id);
    return found->second.state;
}

void KvTier::touch(Entry & entry, Id id) {
    recency_.erase(entry.recency);
    entry.recency = recency_.insert(recency_.end(), id);
}

bool KvTier::fetch(Id id) {
    auto found = entries_.find(id);
    if (found == entries_.end()) return false;
    auto & entry = found->second;
    if (entry.state || entry.reading) return true;
    entry.reading = true;
    touch(entry, id);
    disk_->read(id);
    return true;
}

bool KvTier::is_fetching(Id id) const {
    const auto found = entries_.find(id);
    return found != entries_.end() && found->second.reading;
}

void KvTier::drop(Id id) {
    auto found = entries_.find(id);
    if (found == entries_.end()) return;
    auto & entry = found->second;
    if (entry.state) memory_bytes_ -= entry.bytes;
    if (entry.on_disk) disk_bytes_ -= entry.bytes;
    if (entry.on_disk || entry.writing) disk_->remove(id);
    recency_.erase(entry.recency);
    tree_.erase(id);
    entries_.erase(found);
}

// Frees memory: of states that are on disk too, or else by forgetting the oldest.
bool KvTier::make_memory(size_t bytes) {
    if (bytes > options_.memory_bytes) return false;
    for (const bool forget : {false, true}) {
        for (auto it = recency_.begin(); it != recency_.end() && memory_bytes_ + bytes > options_.memory_bytes;) {
            const Id id = *it++;
            auto & entry = entries_.at(id);
            if (!entry.state || (!forget && !entry.on_disk)) continue;
            if (forget) {
                drop(id);
                continue;
            }
            entry.state.reset();
            memory_bytes_ -= entry.bytes;
        }
    }
    return memory_bytes_ + bytes <= options_.memory_bytes;
}

// Frees disk for the state `id`: of the oldest states that are nowhere else, and then of copies of states that leave memory later
// than it will. Copies of older ones stay, or each would be written in the place of another, for ever.
bool KvTier::make_disk(Id id, size_t bytes) {
    auto has_room = [&] { return disk_bytes_ + bytes <= options_.disk_bytes; };
    for (auto it = recency_.begin(); it != recency_.end() && !has_room();) {
        const Id other = *it++;
        const auto & entry = entries_.at(other);
        if (entry.on_disk && !entry.state && !entry.reading) drop(other);
    }
    for (auto it = recency_.rbegin(); *it != id && !has_room(); it++) {
        auto & entry = entries_.at(*it);
        if (!entry.on_disk || !entry.state) continue;
        disk_->remove(*it);
        entry.on_disk = false;
        disk_bytes_ -= entry.bytes;
    }
    return has_room();
}

// Writes the oldest state that is in memory alone, one at a time.
void KvTier::write_behind() {
    const bool is_early = static_cast<double>(memory_bytes_) < kWriteFrom * static_cast<double>(options_.memory_bytes);
    if (!disk_ || writing_ || all_written_ || is_early) return;
    const auto next = std::find_if(recency_.begin(), recency_.end(), [this](Id id) {
        const auto & entry = entries_.at(id);
        return entry.state && !entry.on_disk && entry.bytes <= options_.disk_bytes;
    });
    all_written_ = next == recency_.end() || !make_disk(*next, entries_.at(*next).bytes);
    if (all_written_) return;
    auto & entry = entries_.at(*next);
    entry.writing = true;
    writing_ = true;
    disk_->write(*next, entry.state);
}

void KvTier::poll() {
    if (!disk_) return;
    for (auto & result : disk_->take_results()) {
        const bool wrote = result.kind == KvDisk::Result::Kind::Written;
        if (wrote) writing_ = false;
        const auto found = entries_.find(result.id);
        if (wrote && !result.ok) {
            trouble_ = "a saved KV state could not be written to " + options_.folder + ": " + result.reason +
                       ". New states of this model stay in memory alone until it is loaded again.";
            options_.disk_bytes = 0;
        }
        if (found == entries_.end()) continue;
        auto & entry = found->second;
        if (wrote) {
            entry.writing = false;
            entry.on_disk = result.ok;
            if (result.ok) disk_bytes_ += entry.bytes;
            continue;
        }
        entry.reading = false;
        if (!result.ok) {
            drop(result.id);
            continue;
        }
        read_bytes_per_ms_ = static_cast<double>(entry.bytes) / std::max(0.01, result.ms);
        touch(entry, result.id);
        const size_t bytes = entry.bytes;
        if (!make_memory(bytes)) continue;
        entry.state = std::move(result.state);
        memory_bytes_ += bytes;
    }
    write_behind();
}

}  // namespace svc
