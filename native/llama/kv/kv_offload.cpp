#include "kv_offload.h"

#include <algorithm>
#include <unordered_set>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

// A cache key begins with it.
std::string tenant_of(const std::string & key) { return key.substr(0, key.find('\0')); }

}  // namespace

KvOffload::KvOffload(Options options, std::function<void()> wake) : options_(std::move(options)) {
    if (options_.disk_bytes == 0 || options_.folder.empty()) return;
    // Without a folder that can be written, memory is all there is; whoever made the folder knows and says so.
    catch_status([&] { disk_ = std::make_unique<KvDisk>(options_.folder, std::move(wake)); });
}

KvOffload::~KvOffload() {
    for (const auto & [id, entry] : entries_) {
        if (entry.on_disk || entry.writing) disk_->remove(id);
    }
}

KvOffload::Match KvOffload::find(const std::string & key, const Tokens & tokens, size_t most) const {
    Match best;
    for (const auto & [id, n_common] : tree_.find(key, tokens, most, kTuning.prefix_candidates)) {
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

bool KvOffload::holds(const std::string & key, const Tokens & tokens) const {
    return find(key, tokens, tokens.size()).n_common == tokens.size();
}

void KvOffload::put(const std::string & key, const Tokens & tokens, std::shared_ptr<const KvState> state) {
    const MemoryWait wait;
    const size_t bytes = state->bytes() + tokens.size() * sizeof(llama_token);
    const auto tenant = tenant_of(key);
    supersede(key, tokens);
    if (!make_memory(tenant, bytes)) return;
    const Id id = next_id_++;
    auto & entry = entries_[id];
    entry.tenant = tenant;
    entry.tokens = tokens;
    entry.bytes = bytes;
    entry.state = std::move(state);
    entry.recency = recency_.insert(recency_.end(), id);
    tenants_[tenant].n_entries++;
    count_memory(entry, true);
    tree_.insert(id, key, tokens.data(), tokens.size());
    all_written_ = false;
    write_behind();
}

// A state that the new one begins with is of no more use.
void KvOffload::supersede(const std::string & key, const Tokens & tokens) {
    for (const auto & [id, n_common] : tree_.find(key, tokens, tokens.size(), kTuning.prefix_candidates)) {
        if (entries_.at(id).tokens.size() == n_common) drop(id);
    }
}

std::shared_ptr<const KvState> KvOffload::get(Id id) {
    auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    touch(found->second, id);
    return found->second.state;
}

void KvOffload::touch(Entry & entry, Id id) {
    const MemoryWait wait;
    recency_.erase(entry.recency);
    entry.recency = recency_.insert(recency_.end(), id);
}

bool KvOffload::fetch(Id id) {
    const MemoryWait wait;
    auto found = entries_.find(id);
    if (found == entries_.end()) return false;
    auto & entry = found->second;
    if (entry.state || entry.reading) return true;
    entry.reading = true;
    touch(entry, id);
    disk_->read(id);
    return true;
}

bool KvOffload::is_fetching(Id id) const {
    const auto found = entries_.find(id);
    return found != entries_.end() && found->second.reading;
}

void KvOffload::drop(Id id) {
    const MemoryWait wait;
    auto found = entries_.find(id);
    if (found == entries_.end()) return;
    auto & entry = found->second;
    if (entry.state) count_memory(entry, false);
    if (entry.on_disk) count_disk(entry, false);
    if (entry.on_disk || entry.writing) disk_->remove(id);
    const auto use = tenants_.find(entry.tenant);
    if (--use->second.n_entries == 0) tenants_.erase(use);
    recency_.erase(entry.recency);
    tree_.erase(id);
    entries_.erase(found);
}

void KvOffload::count_memory(const Entry & entry, bool is_more) {
    auto & mine = tenants_.at(entry.tenant).memory_bytes;
    mine = is_more ? mine + entry.bytes : mine - entry.bytes;
    memory_bytes_ = is_more ? memory_bytes_ + entry.bytes : memory_bytes_ - entry.bytes;
}

void KvOffload::count_disk(const Entry & entry, bool is_more) {
    auto & mine = tenants_.at(entry.tenant).disk_bytes;
    mine = is_more ? mine + entry.bytes : mine - entry.bytes;
    disk_bytes_ = is_more ? disk_bytes_ + entry.bytes : disk_bytes_ - entry.bytes;
}

// The tenant with the most bytes, when `tenant` has `more` than now; of equals, that one itself.
const std::string & KvOffload::largest(uint64_t Use::*bytes, const std::string & tenant, size_t more) const {
    const auto own = tenants_.find(tenant);
    const std::string * found = &tenant;
    uint64_t most = (own == tenants_.end() ? 0 : own->second.*bytes) + more;
    for (const auto & [name, use] : tenants_) {
        if (use.*bytes <= most) continue;
        found = &name;
        most = use.*bytes;
    }
    return *found;
}

bool KvOffload::make_memory(const std::string & tenant, size_t bytes) {
    if (bytes > options_.memory_bytes) return false;
    while (memory_bytes_ + bytes > options_.memory_bytes) {
        const std::string from = largest(&Use::memory_bytes, tenant, bytes);
        if (!free_memory_of(from)) return false;
    }
    return true;
}

// Of a state that is on disk too, or else by forgetting the oldest.
bool KvOffload::free_memory_of(const std::string & tenant) {
    for (const bool forget : {false, true}) {
        for (const Id id : recency_) {
            auto & entry = entries_.at(id);
            if (entry.tenant != tenant || !entry.state || (!forget && !entry.on_disk)) continue;
            if (forget) {
                drop(id);
                return true;
            }
            count_memory(entry, false);
            entry.state.reset();
            return true;
        }
    }
    return false;
}

// Space on disk for the state `id`.
bool KvOffload::make_disk(Id id) {
    const auto & entry = entries_.at(id);
    while (disk_bytes_ + entry.bytes > options_.disk_bytes) {
        const std::string from = largest(&Use::disk_bytes, entry.tenant, entry.bytes);
        if (!free_disk_of(from, id)) return false;
    }
    return true;
}

// Of the oldest state that is nowhere else, or else of the copy of one that leaves memory later than the state `id`. Copies of
// older ones stay, or each would be written in the place of another, for ever.
bool KvOffload::free_disk_of(const std::string & tenant, Id id) {
    for (const Id other : recency_) {
        const auto & entry = entries_.at(other);
        if (entry.tenant != tenant || !entry.on_disk || entry.state || entry.reading) continue;
        drop(other);
        return true;
    }
    for (auto it = recency_.rbegin(); it != recency_.rend() && (*it != id || entries_.at(id).tenant != tenant); it++) {
        auto & entry = entries_.at(*it);
        if (entry.tenant != tenant || !entry.on_disk || !entry.state) continue;
        disk_->remove(*it);
        entry.on_disk = false;
        count_disk(entry, false);
        return true;
    }
    return false;
}

// Writes the oldest state that is in memory alone, one at a time.
void KvOffload::write_behind() {
    const bool is_early =
        static_cast<double>(memory_bytes_) < kTuning.write_behind_from * static_cast<double>(options_.memory_bytes);
    if (!disk_ || writing_ || all_written_ || is_early) return;
    all_written_ = !write_next();
}

bool KvOffload::write_next() {
    std::unordered_set<std::string> full;
    for (const Id id : recency_) {
        auto & entry = entries_.at(id);
        if (!entry.state || entry.on_disk || entry.bytes > options_.disk_bytes || full.count(entry.tenant)) continue;
        if (!make_disk(id)) {
            full.insert(entry.tenant);
            continue;
        }
        entry.writing = true;
        writing_ = true;
        disk_->write(id, entry.state);
        return true;
    }
    return false;
}

void KvOffload::poll() {
    const MemoryWait wait;
    if (!disk_) return;
    for (auto & result : disk_->take_results()) {
        const bool wrote = result.kind == KvDisk::Result::Kind::Written;
        if (wrote) writing_ = false;
        const auto found = entries_.find(result.id);
        if (wrote && !result.ok) {
            io_error_ = "a saved KV state could not be written to " + options_.folder + ": " + result.reason +
                        ". New states of this model stay in memory alone until it is loaded again.";
            options_.disk_bytes = 0;
        }
        if (found == entries_.end()) continue;
        auto & entry = found->second;
        if (wrote) {
            entry.writing = false;
            entry.on_disk = result.ok;
            if (result.ok) count_disk(entry, true);
            continue;
        }
        entry.reading = false;
        if (!result.ok) {
            drop(result.id);
            continue;
        }
        if (result.is_measured) read_bytes_per_ms_.observe(static_cast<double>(entry.bytes) / std::max(0.01, result.ms));
        touch(entry, result.id);
        if (!make_memory(entry.tenant, entry.bytes) || entry.state) continue;
        entry.state = std::move(result.state);
        count_memory(entry, true);
    }
    write_behind();
}

}  // namespace svc
