// An index of vectors by cosine. Few vectors are compared one by one; when there are more, links between near ones lead to the
// nearest (graph.h). Rows that are not yet linked are compared one by one too, so what was added is found at once.
//
// Rows with codes (row_codes.h) are searched by these, and the best of them compared exactly. An index that was viewed reads its
// file as it is needed and can be changed like any other: what is added is in memory, and so are the links once there are new
// ones.
//
// Any thread may call anything. Adding and removing hold the lock for a copy; linking holds it for one row at a time. What takes
// long (linking, compacting, saving) goes one after the other, beside searches and changes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

#include "../kernels/unit_vectors.h"
#include "../rows/rows.h"
#include "allowed_keys.h"
#include "graph.h"

namespace svc {

constexpr uint32_t kMostDims = 65536;
constexpr uint32_t kLeastConnectivity = 4;
constexpr uint32_t kMostConnectivity = 64;
constexpr size_t kMostLabelBytes = 256;

struct IndexOptions {
    RowShape rows;
    GraphShape graph;
    // Up to so many rows, comparing with each is faster than following links.
    uint32_t exact_below = 8192;
    // Where codes are compared: so many of the best, beside those that are asked for, are compared exactly.
    uint32_t rescored = 0;
    // What the index is of (a model, say): saved with it, and a file of another label is refused.
    std::string label;
};

struct KeyHit {
    uint64_t key;
    // Cosine, -1 to 1.
    float score;
};

struct IndexStats {
    uint32_t n_alive = 0;
    uint32_t n_removed = 0;
    uint32_t n_linked = 0;
    // Rows that are compared one by one.
    uint32_t n_unlinked = 0;
    size_t size_bytes = 0;
};

// What compacting replaces and closing gives up.
struct IndexState {
    Rows rows;
    std::unique_ptr<Graph> graph;
};

class VectorIndex {
  public:
    explicit VectorIndex(IndexOptions options);
    VectorIndex(IndexOptions options, IndexState state);

    // Everything but close() throws StatusError closed once the index is closed.
    void add(const std::vector<uint64_t> & keys, const UnitVectors & vectors);
    uint32_t remove(const std::vector<uint64_t> & keys);
    // For each query at most k hits, best first.
    std::vector<std::vector<KeyHit>> search(const UnitVectors & queries, uint32_t k, const AllowedKeys & allowed) const;
    std::optional<float> similarity(const UnitVectors & query, uint64_t key) const;
    std::vector<uint64_t> keys() const;
    IndexStats stats() const;

    // Links the rows that are not, unless the index is small. Stops with StatusError closed when the index is closed meanwhile.
    void link();
    // Makes the index anew without what was removed. Searches and changes go on, and the changes are in it.
    void compact();
    // Throws StatusError index_write_failed; the file that was there stays then.
    void save(const std::string & path) const;
    void close();

    const IndexOptions & options() const { return options_; }

  private:
    std::shared_lock<std::shared_mutex> reading() const;
    std::unique_lock<std::shared_mutex> writing() const;
    bool is_large(const Rows & rows) const { return rows.n_alive() > options_.exact_below; }
    std::vector<RowHit> nearest(const float * unit, uint32_t k, const AllowedRows & allowed) const;
    std::vector<RowHit> quick_nearest(const RowQuery & query, uint32_t k, const AllowedRows & allowed) const;
    // Makes the links of a viewed file changeable, if there are rows to link.
    void thaw();
    // One row under the lock. False: none was left.
    bool link_next();
    // Waits while others use the index, but not for long. `n_seen` is what n_calls_ was when it was last looked at.
    void yield_cores(uint64_t & n_seen) const;
    std::vector<uint32_t> copy_rows(Rows & to) const;
    void link_all(IndexState & state) const;

    const IndexOptions options_;
    std::atomic<bool> is_closed_{false};
    // Calls that took the lock for somebody who waits.
    mutable std::atomic<uint64_t> n_calls_{0};
    mutable std::mutex maintenance_;
    // Whoever waits for the lock waits here first, so that neither readers nor a writer can keep the other out.
    mutable std::mutex turnstile_;
    mutable std::shared_mutex lock_;
    std::shared_ptr<IndexState> state_;
};

}  // namespace svc
