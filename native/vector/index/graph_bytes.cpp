#include "graph_bytes.h"

#include <cstring>

#include "../../common/status.h"

namespace svc {

namespace {

// usearch, include/usearch/index.hpp: index_serialized_header_t, then a level for each node, then the nodes: key, level, and for
// each level from 0 up a count with room for as many slots as the level may have.
constexpr size_t kHeaderBytes = 5 * sizeof(uint64_t);
constexpr size_t kLevelBytes = sizeof(int16_t);
constexpr size_t kNodeHeadBytes = sizeof(uint64_t) + kLevelBytes;
constexpr int kMostLevel = 64;

template <typename T> T read(const uint8_t * from) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

[[noreturn]] void refuse() { throw StatusError("index_invalid", "the links of the index file are damaged"); }

void require(bool is_right) {
    if (!is_right) refuse();
}

class GraphBytes {
  public:
    GraphBytes(const uint8_t * bytes, size_t size, uint32_t n_rows, uint32_t connectivity)
        : bytes_(bytes), size_(size), n_rows_(n_rows), connectivity_(connectivity) {}

    void check() const {
        require(n_rows_ > 0 && size_ >= kHeaderBytes && (size_ - kHeaderBytes) / kLevelBytes >= n_rows_);
        check_header();
        const uint8_t * node = bytes_ + kHeaderBytes + n_rows_ * kLevelBytes;
        for (uint32_t row = 0; row < n_rows_; row++) {
            const auto node_bytes = kNodeHeadBytes + list_bytes(0) + level(row) * list_bytes(1);
            require(static_cast<size_t>(bytes_ + size_ - node) >= node_bytes);
            check_node(row, node);
            node += node_bytes;
        }
        require(node == bytes_ + size_);
    }

  private:
    uint64_t header(size_t i) const { return read<uint64_t>(bytes_ + i * sizeof(uint64_t)); }
    int level(uint32_t row) const { return read<int16_t>(bytes_ + kHeaderBytes + row * kLevelBytes); }
    uint32_t most_links(int level) const { return level == 0 ? 2 * connectivity_ : connectivity_; }
    size_t list_bytes(int level) const { return sizeof(uint32_t) * (1 + most_links(level)); }

    void check_header() const {
        require(header(0) == n_rows_ && header(1) == connectivity_ && header(2) == 2 * connectivity_);
        require(header(3) <= kMostLevel && header(4) < n_rows_);
        for (uint32_t row = 0; row < n_rows_; row++) require(level(row) >= 0 && static_cast<uint64_t>(level(row)) <= header(3));
        require(static_cast<uint64_t>(level(static_cast<uint32_t>(header(4)))) == header(3));
    }

    void check_node(uint32_t row, const uint8_t * node) const {
        require(read<uint64_t>(node) == row && read<int16_t>(node + sizeof(uint64_t)) == level(row));
        const uint8_t * list = node + kNodeHeadBytes;
        for (int at = 0; at <= level(row); at++) {
            const auto count = read<uint32_t>(list);
            require(count <= most_links(at));
            for (uint32_t i = 0; i < count; i++) {
                const auto slot = read<uint32_t>(list + sizeof(uint32_t) * (1 + i));
                require(slot < n_rows_ && slot != row && level(slot) >= at);
            }
            list += list_bytes(at);
        }
    }

    const uint8_t * bytes_;
    size_t size_;
    uint32_t n_rows_;
    uint32_t connectivity_;
};

}  // namespace

void check_graph_bytes(const uint8_t * bytes, size_t size, uint32_t n_rows, uint32_t connectivity) {
    GraphBytes(bytes, size, n_rows, connectivity).check();
}

}  // namespace svc
