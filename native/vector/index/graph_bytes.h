// What usearch writes of a graph, and whether bytes from outside are that. Its own reading trusts counts, levels and slots.
#pragma once

#include <cstddef>
#include <cstdint>

namespace svc {

// Throws StatusError index_invalid unless the bytes are a whole graph of `n_rows` nodes whose links all lead to nodes that are
// there.
void check_graph_bytes(const uint8_t * bytes, size_t size, uint32_t n_rows, uint32_t connectivity);

}  // namespace svc
