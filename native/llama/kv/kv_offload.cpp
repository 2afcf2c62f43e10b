#include "kv_offload.h"

#include <algorithm>
#include <unordered_set>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

// What an entry takes in memory beside its tokens, which it and the tree hold: 500 to 700 bytes were measured.
constexpr uint64_t kEntryBytes = 600;

uint64_t index_bytes_of(const KvOffload::Tokens & tokens) { return kEntryBytes + 2 * tokens.size() * sizeof(llama_token); }

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
        // Among equals, the one that costs least to bring back wins.
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
    const uint64_t bytes = state->bytes();
    const uint64_t index_bytes = index_bytes_of(tokens);
    const auto tenant = tenant_of(key);
    supersede(key, tokens);
    if (!make_index(tenant, index_bytes) || !make_memory(tenant, bytes + index_bytes)) return;
    const Id id = ids_.next([this](Id used) { return entries_.count(used) > 0; });
    auto & entry = entries_[id];
    entry.tenant = tenant;
    entry.tokens = tokens;
    entry.bytes = bytes;
    entry.index_bytes = index_bytes;
    entry.state = std::move(state);
    entry.used = now_++;
    auto & fresh = tenants_[tenant].fresh;
    entry.place = fresh.insert(fresh.end(), id);
    count(entry, true);
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
    const auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    touch(id);
    return found->second.state;
}

bool KvOffload::fetch(Id id) {
    const MemoryWait wait;
    const auto found = entries_.find(id);
    if (found == entries_.end()) return false;
    auto & entry = found->second;
    if (entry.state || entry.reading) return true;
    entry.reading = true;
    touch(id);
    disk_->read(id);
    return true;
}

bool KvOffload::is_fetching(Id id) const {
    const auto found = entries_.find(id);
    return found != entries_.end() && found->second.reading;
}

void KvOffload::drop(Id id) {
    const MemoryWait wait;
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    auto & entry = found->second;
    count(entry, false);
    if (entry.on_disk || entry.writing) disk_->remove(id);
    const auto tenant = tenants_.find(entry.tenant);
    list_of(tenant->second, entry).erase(entry.place);
    if (tenant->second.is_empty()) tenants_.erase(tenant);
    tree_.erase(id);
    entries_.erase(found);
}

KvOffload::Ids & KvOffload::list_of(Tenant & tenant, const Entry & entry) {
    if (!entry.state) return tenant.stored;
    return entry.on_disk ? tenant.copied : tenant.fresh;
}

void KvOffload::count(const Entry & entry, bool is_more) {
    auto & tenant = tenants_.at(entry.tenant);
    const auto add = [is_more](uint64_t & all, uint64_t & mine, uint64_t bytes) {
        all = is_more ? all + bytes : all - bytes;
        mine = is_more ? mine + bytes : mine - bytes;
    };
    add(index_bytes_, tenant.index_bytes, entry.index_bytes);
    if (entry.state) add(memory_bytes_, tenant.memory_bytes, entry.bytes);
    if (entry.on_disk) add(disk_bytes_, tenant.disk_bytes, entry.bytes);
}

// Changes where the state of an entry lies, or when it was used; it is counted and listed anew.
template <class Change> void KvOffload::update(Id id, Change change) {
    auto & entry = entries_.at(id);
    auto & tenant = tenants_.at(entry.tenant);
    count(entry, false);
    Ids own;
    own.splice(own.end(), list_of(tenant, entry), entry.place);
    change(entry);
    auto & list = list_of(tenant, entry);
    auto at = list.end();
    while (at != list.begin() && entries_.at(*std::prev(at)).used > entry.used) at--;
    list.splice(at, own);
    count(entry, true);
}

void KvOffload::touch(Id id) {
    update(id, [this](Entry & entry) { entry.used = now_++; });
}

// The tenant with the most bytes, when `tenant` has `more` than now; of equals, that one itself.
const std::string & KvOffload::largest(uint64_t Tenant::*bytes, const std::string & tenant, uint64_t more) const {
    const auto own = tenants_.find(tenant);
    const std::string * found = &tenant;
    uint64_t most = (own == tenants_.end() ? 0 : own->second.*bytes) + more;
    for (const auto & [name, other] : tenants_) {
        if (other.*bytes <= most) continue;
        found = &name;
        most = other.*bytes;
    }
    return *found;
}

// Small states on a large disk must not fill memory with what they are found by.
bool KvOffload::make_index(const std::string & tenant, uint64_t bytes) {
    const auto most = static_cast<uint64_t>(kTuning.offload_index_share * static_cast<double>(options_.memory_bytes));
    while (index_bytes_ + bytes > most) {
        const std::string from = largest(&Tenant::index_bytes, tenant, bytes);
        if (!free_index_of(from)) return false;
    }
    return true;
}

bool KvOffload::make_memory(const std::string & tenant, uint64_t bytes) {
    if (bytes > options_.memory_bytes) return false;
    while (memory_bytes() + bytes > options_.memory_bytes) {
        const std::string from = largest(&Tenant::memory_bytes, tenant, bytes);
        if (!free_memory_of(from)) return false;
    }
    return true;
}

// Space on disk for the state `id`.
bool KvOffload::make_disk(Id id) {
    const auto & entry = entries_.at(id);
    while (disk_bytes_ + entry.bytes > options_.disk_bytes) {
        const std::string from = largest(&Tenant::disk_bytes, entry.tenant, entry.bytes);
        if (!free_disk_of(from, id)) return false;
    }
    return true;
}

// Forgets the oldest that nobody waits for.
bool KvOffload::drop_oldest(const Ids & list) {
    const auto oldest = std::find_if(list.begin(), list.end(), [this](Id id) { return !entries_.at(id).reading; });
    if (oldest == list.end()) return false;
    drop(*oldest);
    return true;
}

// Frees the index of those first that take longest to bring back.
bool KvOffload::free_index_of(const std::string & tenant) {
    const auto found = tenants_.find(tenant);
    if (found == tenants_.end()) return false;
    const auto & owned = found->second;
    return drop_oldest(owned.stored) || drop_oldest(owned.copied) || drop_oldest(owned.fresh);
}

// Frees the memory of a state that is on disk too, or else forgets the oldest.
bool KvOffload::free_memory_of(const std::string & tenant) {
    const auto found = tenants_.find(tenant);
    if (found == tenants_.end()) return false;
    const auto & owned = found->second;
    if (owned.copied.empty()) return drop_oldest(owned.fresh);
    update(owned.copied.front(), [](Entry & entry) { entry.state.reset(); });
    return true;
}

// Frees the oldest state that is nowhere else, or else the copy of one that leaves memory later than the state `id`. Copies of
// older ones stay, or each would be written in the place of another, for ever.
bool KvOffload::free_disk_of(const std::string & tenant, Id id) {
    const auto found = tenants_.find(tenant);
    if (found == tenants_.end()) return false;
    const auto & owned = found->second;
    if (drop_oldest(owned.stored)) return true;
    if (owned.copied.empty()) return false;
    const Id newest = owned.copied.back();
    const auto & wanted = entries_.at(id);
    if (wanted.tenant == tenant && entries_.at(newest).used < wanted.used) return false;
    disk_->remove(newest);
    update(newest, [](Entry & entry) { entry.on_disk = false; });
    return true;
}

// Writes the oldest state that is in memory alone, one at a time.
void KvOffload::write_behind() {
    const bool is_early =
        static_cast<double>(memory_bytes()) < kTuning.write_behind_from * static_cast<double>(options_.memory_bytes);
    if (!disk_ || writing_ || all_written_ || is_early) return;
    all_written_ = !write_next();
}

bool KvOffload::write_next() {
    std::unordered_set<const Tenant *> full;
    for (;;) {
        Id next = 0;
        for (const auto & [name, tenant] : tenants_) {
            if (full.count(&tenant)) continue;
            const auto fits = [this](Id id) { return entries_.at(id).bytes <= options_.disk_bytes; };
            const auto oldest = std::find_if(tenant.fresh.begin(), tenant.fresh.end(), fits);
            if (oldest == tenant.fresh.end()) continue;
            if (next == 0 || entries_.at(*oldest).used < entries_.at(next).used) next = *oldest;
        }
        if (next == 0) return false;
        auto & entry = entries_.at(next);
        if (!make_disk(next)) {
            full.insert(&tenants_.at(entry.tenant));
            continue;
        }
        entry.writing = true;
        writing_ = true;
        disk_->write(next, entry.state);
        return true;
    }
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
            if (result.ok) update(result.id, [](Entry & written) { written.on_disk = true; });
            continue;
        }
        entry.reading = false;
        if (!result.ok) {
            drop(result.id);
            continue;
        }
        if (result.is_measured) read_bytes_per_ms_.observe(static_cast<double>(entry.bytes) / std::max(0.01, result.ms));
        touch(result.id);
        if (!make_memory(entry.tenant, entry.bytes) || entry.state) continue;
        update(result.id, [&result](Entry & read) { read.state = std::move(result.state); });
    }
    write_behind();
}

}  // namespace svc
