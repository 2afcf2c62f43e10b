#include "vector_index.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "../../common/status.h"
#include "index_file.h"
#include "nearest.h"
#include "row_query.h"

namespace svc {

namespace {

// Rows that are compared in the time of a walk through the links: 1,100 to 1,500 of 10,000 on x86-64 with AVX2, more of more
// rows.
constexpr uint32_t kRowsLikeAWalk = 2048;

// The C library keeps what copies of added vectors took, on each thread that they came through.
void release_freed_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace

VectorIndex::VectorIndex(IndexOptions options)
    : options_(std::move(options)),
      state_(std::make_shared<IndexState>(IndexState{Rows(options_.rows), std::make_unique<Graph>(options_.graph)})) {}

VectorIndex::VectorIndex(IndexOptions options, IndexState state)
    : options_(std::move(options)), state_(std::make_shared<IndexState>(std::move(state))) {}

std::shared_lock<std::shared_mutex> VectorIndex::reading() const {
    n_calls_++;
    std::unique_lock turn(turnstile_);
    std::shared_lock lock(lock_);
    if (is_closed_) throw StatusError("closed", "the index is closed");
    return lock;
}

std::unique_lock<std::shared_mutex> VectorIndex::writing() const {
    n_calls_++;
    std::unique_lock turn(turnstile_);
    std::unique_lock lock(lock_);
    if (is_closed_) throw StatusError("closed", "the index is closed");
    return lock;
}

void VectorIndex::add(const std::vector<uint64_t> & keys, const UnitVectors & vectors) {
    // A search waits for a few rows at most.
    constexpr size_t kRowsAtOnce = 64;
    for (size_t from = 0; from < keys.size(); from += kRowsAtOnce) {
        const auto lock = writing();
        for (size_t i = from; i < std::min(keys.size(), from + kRowsAtOnce); i++) state_->rows.add(keys[i], vectors.at(i));
    }
}

uint32_t VectorIndex::remove(const std::vector<uint64_t> & keys) {
    const auto lock = writing();
    uint32_t n_removed = 0;
    for (const auto key : keys) n_removed += state_->rows.remove(key);
    return n_removed;
}

std::vector<std::vector<KeyHit>> VectorIndex::search(const UnitVectors & queries, uint32_t k, const AllowedKeys & allowed) const {
    std::vector<std::vector<KeyHit>> found(queries.count());
    const auto lock = reading();
    const AllowedRows allowed_rows(allowed, state_->rows);
    for (size_t i = 0; i < queries.count(); i++)
        for (const auto & hit : nearest(queries.at(i), k, allowed_rows))
            found[i].push_back({state_->rows.key(hit.row), hit.score});
    return found;
}

std::vector<RowHit> VectorIndex::nearest(const float * unit, uint32_t k, const AllowedRows & allowed) const {
    const RowQuery query(state_->rows, unit);
    if (!state_->rows.has_codes()) return quick_nearest(query, k, allowed);
    Nearest best(k);
    const uint32_t n_rescored = k + options_.rescored;
    if (allowed.count() <= n_rescored) allowed.from(0, [&](uint32_t row) { best.offer({row, query.exact(row)}); });
    else
        for (const auto & hit : quick_nearest(query, n_rescored, allowed)) best.offer({hit.row, query.exact(hit.row)});
    return best.take();
}

std::vector<RowHit> VectorIndex::quick_nearest(const RowQuery & query, uint32_t k, const AllowedRows & allowed) const {
    const auto & rows = state_->rows;
    const auto & graph = *state_->graph;
    Nearest best(k);
    uint32_t n_searched = 0;
    // The fewer rows are allowed, the more of those that are not must be walked over to reach them, and the fewer there are to
    // compare.
    const uint64_t n_allowed = allowed.count();
    const uint64_t n_like_a_walk = std::min(options_.exact_below / 2, kRowsLikeAWalk);
    const bool is_walk_shorter = n_allowed * n_allowed > n_like_a_walk * rows.n_alive();
    if (graph.count() > 0 && is_walk_shorter && k < n_allowed / 16) {
        n_searched = graph.count();
        const auto expansion = rows.has_codes() ? k : 2 * k;
        for (const auto & hit : graph.search(query, k, expansion, [&](uint32_t row) { return allowed.has(row); }))
            best.offer(hit);
    }
    // Each row is asked of memory one row before it is compared.
    std::optional<uint32_t> pending;
    const auto compare = [&](uint32_t row) { best.offer({row, query.quick(row)}); };
    allowed.from(n_searched, [&](uint32_t row) {
        query.prefetch(row);
        if (pending) compare(*pending);
        pending = row;
    });
    if (pending) compare(*pending);
    return best.take();
}

std::optional<float> VectorIndex::similarity(const UnitVectors & query, uint64_t key) const {
    const auto lock = reading();
    const auto & rows = state_->rows;
    const auto row = rows.find(key);
    if (!row) return std::nullopt;
    return RowQuery(rows, query.at(0)).exact(*row);
}

std::vector<uint64_t> VectorIndex::keys() const {
    const auto lock = reading();
    std::vector<uint64_t> alive;
    alive.reserve(state_->rows.n_alive());
    for (const auto key : state_->rows.keys().all())
        if (key != kNoKey) alive.push_back(key);
    return alive;
}

IndexStats VectorIndex::stats() const {
    const auto lock = reading();
    const auto & rows = state_->rows;
    const auto & graph = *state_->graph;
    return {rows.n_alive(), rows.count() - rows.n_alive(), graph.count(), rows.count() - graph.count(),
            rows.size_bytes() + graph.size_bytes()};
}

void VectorIndex::link() {
    std::lock_guard one(maintenance_);
    thaw();
    uint64_t n_seen = n_calls_;
    while (link_next()) yield_cores(n_seen);
    release_freed_memory();
}

void VectorIndex::thaw() {
    std::shared_ptr<IndexState> state;
    {
        const auto lock = reading();
        const auto & rows = state_->rows;
        const auto & graph = *state_->graph;
        if (!graph.is_viewed() || !is_large(rows) || graph.count() == rows.count()) return;
        state = state_;
    }
    // Nobody else replaces the graph: whoever does holds maintenance_. The old one is freed when the lock is not held any more.
    auto graph = state->graph->thawed();
    const auto lock = writing();
    graph.swap(state->graph);
}

// Many short calls in a row would otherwise each wait for a row to be linked.
void VectorIndex::yield_cores(uint64_t & n_seen) const {
    constexpr auto kPause = std::chrono::microseconds(500);
    constexpr int kMostPauses = 8;
    // link_next() is one of the calls.
    n_seen++;
    for (int i = 0; i < kMostPauses && n_calls_ != n_seen && !is_closed_; i++) {
        n_seen = n_calls_;
        std::this_thread::sleep_for(kPause);
    }
    n_seen = n_calls_;
}

bool VectorIndex::link_next() {
    const auto lock = writing();
    if (!is_large(state_->rows) || state_->graph->count() == state_->rows.count()) return false;
    state_->graph->add(state_->rows);
    return true;
}

void VectorIndex::compact() {
    std::lock_guard one(maintenance_);
    auto fresh = std::make_shared<IndexState>(IndexState{Rows(options_.rows), std::make_unique<Graph>(options_.graph)});
    const auto copied = copy_rows(fresh->rows);
    link_all(*fresh);
    // Freed when the lock is not held any more.
    std::shared_ptr<IndexState> old;
    const auto lock = writing();
    const auto & rows = state_->rows;
    // What was changed meanwhile: a key that was removed, or replaced by a later row, has another row now.
    for (uint32_t row = 0; row < fresh->rows.count(); row++)
        if (!rows.is_alive(copied[row])) fresh->rows.remove(fresh->rows.key(row));
    const uint32_t n_seen = copied.empty() ? 0 : copied.back() + 1;
    for (uint32_t row = n_seen; row < rows.count(); row++)
        if (rows.is_alive(row)) fresh->rows.add_from(rows, row);
    old = std::exchange(state_, std::move(fresh));
}

// Returns the row that each was copied from.
std::vector<uint32_t> VectorIndex::copy_rows(Rows & to) const {
    constexpr uint32_t kRowsAtOnce = 1024;
    std::vector<uint32_t> copied;
    const uint32_t n_rows = [this] {
        const auto lock = reading();
        return state_->rows.count();
    }();
    for (uint32_t from = 0; from < n_rows; from += kRowsAtOnce) {
        const auto lock = reading();
        const auto & rows = state_->rows;
        for (uint32_t row = from; row < std::min(n_rows, from + kRowsAtOnce); row++) {
            if (!rows.is_alive(row)) continue;
            to.add_from(rows, row);
            copied.push_back(row);
        }
    }
    return copied;
}

void VectorIndex::link_all(IndexState & state) const {
    while (is_large(state.rows) && state.graph->count() < state.rows.count()) {
        if (is_closed_) throw StatusError("closed", "the index is closed");
        state.graph->add(state.rows);
    }
}

void VectorIndex::save(const std::string & path) const {
    std::lock_guard one(maintenance_);
    const auto saved = [this] {
        const auto lock = reading();
        return SavedRows(state_);
    }();
    write_index(path, options_, saved);
}

void VectorIndex::close() {
    is_closed_ = true;
    std::unique_lock turn(turnstile_);
    std::unique_lock lock(lock_);
    state_.reset();
}

}  // namespace svc
