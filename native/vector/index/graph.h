// Links between rows that are near to each other (HNSW), by usearch. Row n of the index is node n of the graph.
// Nothing here locks: one thread adds while none searches; any number may search at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../rows/rows.h"
#include "row_hit.h"
#include "row_query.h"

namespace svc {

struct GraphShape {
    // Links of a node above the lowest level, where it has twice as many.
    uint32_t connectivity = 16;
    // Candidates that adding and searching keep.
    uint32_t expansion_add = 160;
    uint32_t expansion_search = 88;
};

class Graph {
  public:
    explicit Graph(GraphShape shape);
    ~Graph();

    uint32_t count() const;
    size_t size_bytes() const;
    // Links the next row, by the rows as they are. Throws StatusError out_of_memory.
    void add(const Rows & rows);
    // At most k rows that `is_wanted` lets pass, best first by RowQuery::quick(); of at least `expansion` candidates.
    std::vector<RowHit> search(const RowQuery & query, uint32_t k, uint32_t expansion,
                               const std::function<bool(uint32_t)> & is_wanted) const;

    using Write = std::function<void(const void * bytes, size_t size)>;
    // While no thread adds.
    void save(const Write & write) const;
    // Both throw StatusError index_invalid for bytes that are no graph of `n_rows` rows: every link is looked at, as nothing
    // looks again while searching. viewed() reads `bytes` as long as it lives, and is added to only when it was thawed().
    static std::unique_ptr<Graph> loaded(GraphShape shape, uint32_t n_rows, const uint8_t * bytes, size_t size);
    static std::unique_ptr<Graph> viewed(GraphShape shape, uint32_t n_rows, const uint8_t * bytes, size_t size);
    bool is_viewed() const { return viewed_bytes_ != nullptr; }
    // The same graph in memory. Throws StatusError out_of_memory.
    std::unique_ptr<Graph> thawed() const;

  private:
    static std::unique_ptr<Graph> copied(GraphShape shape, uint32_t n_rows, const uint8_t * bytes);

    struct Inner;
    std::unique_ptr<Inner> inner_;
    GraphShape shape_;
    const uint8_t * viewed_bytes_ = nullptr;
};

}  // namespace svc
