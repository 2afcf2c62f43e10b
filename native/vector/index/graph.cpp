#include "graph.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <usearch/index.hpp>

#include "../../common/status.h"
#include "../kernels/kernels.h"
#include "graph_bytes.h"
#include "nearest.h"

namespace svc {

// usearch asks for memory in functions that may not throw, and understands a null pointer.
template <typename T> struct QuietAllocator {
    using value_type = T;
    QuietAllocator() = default;
    template <typename U> QuietAllocator(const QuietAllocator<U> &) {}
    T * allocate(size_t count) {
        constexpr size_t alignment = std::max(alignof(T), alignof(std::max_align_t));
        const size_t size = (count * sizeof(T) + alignment - 1) / alignment * alignment;
        return static_cast<T *>(std::aligned_alloc(alignment, size));
    }
    void deallocate(T * at, size_t) { std::free(at); }
    template <typename U> bool operator==(const QuietAllocator<U> &) const { return true; }
    template <typename U> bool operator!=(const QuietAllocator<U> &) const { return false; }
};

using Hnsw = unum::usearch::index_gt<float, uint64_t, uint32_t, QuietAllocator<char>>;

// Searches that may run at once: each has a workplace of its own in the graph.
constexpr uint32_t kWorkplaces = 16;

class Workplaces {
  public:
    Workplaces() {
        for (uint32_t i = 0; i < kWorkplaces; i++) free_.push_back(i);
    }

    uint32_t take() {
        std::unique_lock lock(mutex_);
        freed_.wait(lock, [this] { return !free_.empty(); });
        const auto place = free_.back();
        free_.pop_back();
        return place;
    }

    void release(uint32_t place) {
        std::lock_guard lock(mutex_);
        free_.push_back(place);
        freed_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable freed_;
    std::vector<uint32_t> free_;
};

using Node = Hnsw::member_citerator_t;

namespace {

// Distances from 0 to 2: of a query and a node, and, where links are made, of two nodes.
struct QueryDistance {
    float operator()(const RowQuery * query, Node node) const { return 1 - query->quick(get_slot(node)); }
};

struct RowDistance {
    const Rows & rows;

    float operator()(const float * unit, Node node) const {
        return 1 - cosine_of(kernels().product(unit, rows.at(get_slot(node)), rows.stride()));
    }
    float operator()(Node one, Node other) const {
        return 1 - cosine_of(kernels().row_product(rows.at(get_slot(one)), rows.at(get_slot(other)), rows.stride()));
    }
};

// Rows are scattered over memory, and waiting for them is most of a search.
struct Prefetch {
    const RowQuery & query;
    template <typename Iterator> void operator()(Iterator from, Iterator end) const {
        for (; from != end; ++from) query.prefetch(get_slot(from));
    }
};

class Workplace {
  public:
    explicit Workplace(Workplaces & of) : of_(of), number_(of.take()) {}
    ~Workplace() { of_.release(number_); }
    Workplace(const Workplace &) = delete;
    uint32_t number() const { return number_; }

  private:
    Workplaces & of_;
    uint32_t number_;
};

template <typename Result> void expect(Result & result, const char * code, const char * text) {
    if (!result.error) return;
    // usearch ends the process over an error that nobody took.
    result.error.release();
    throw StatusError(code, text);
}

constexpr char kNoMemory[] = "not enough memory for the links between vectors";

}  // namespace

struct Graph::Inner {
    explicit Inner(GraphShape shape) : hnsw(unum::usearch::index_config_t(shape.connectivity, 2 * shape.connectivity)) {}

    void reserve(uint32_t members) {
        unum::usearch::index_limits_t limits(members, 1);
        limits.threads_search = kWorkplaces;
        if (!hnsw.try_reserve(limits)) throw StatusError("out_of_memory", kNoMemory);
    }

    Hnsw hnsw;
    mutable Workplaces workplaces;
};

Graph::Graph(GraphShape shape) : inner_(std::make_unique<Inner>(shape)), shape_(shape) {}

Graph::~Graph() = default;

uint32_t Graph::count() const { return static_cast<uint32_t>(inner_->hnsw.size()); }

// Every connectivity-th node is on the level above, and so on up.
size_t Graph::size_bytes() const {
    if (inner_->hnsw.is_immutable()) return inner_->hnsw.capacity() * sizeof(void *);
    constexpr size_t kAllocationBytes = 16;
    const size_t links = 2 * shape_.connectivity + 1 + (shape_.connectivity + 1) / (shape_.connectivity - 1);
    const size_t node_bytes = sizeof(uint64_t) + sizeof(int16_t) + links * sizeof(uint32_t) + kAllocationBytes;
    return inner_->hnsw.capacity() * sizeof(void *) + count() * node_bytes;
}

void Graph::add(const Rows & rows) {
    const auto row = count();
    if (row == inner_->hnsw.capacity()) inner_->reserve(std::max<uint32_t>(1024, row + row / 2));
    std::vector<float> unit(rows.stride());
    kernels().to_float(rows.at(row), unit.data(), rows.stride());
    unum::usearch::index_update_config_t config;
    config.expansion = shape_.expansion_add;
    auto result = inner_->hnsw.add(row, static_cast<const float *>(unit.data()), RowDistance{rows}, config);
    expect(result, "out_of_memory", kNoMemory);
}

std::vector<RowHit> Graph::search(const RowQuery & query, uint32_t k, uint32_t expansion,
                                  const std::function<bool(uint32_t)> & is_wanted) const {
    const Workplace workplace(inner_->workplaces);
    unum::usearch::index_search_config_t config;
    config.expansion = std::max(shape_.expansion_search, expansion);
    config.thread = workplace.number();
    auto found = inner_->hnsw.search(
        &query, k, QueryDistance{}, config, [&](Hnsw::member_cref_t node) { return is_wanted(static_cast<uint32_t>(node.slot)); },
        Prefetch{query});
    expect(found, "out_of_memory", kNoMemory);
    std::vector<RowHit> hits;
    for (size_t i = 0; i < found.size(); i++)
        hits.push_back({static_cast<uint32_t>(found[i].member.slot), 1 - found[i].distance});
    return hits;
}

void Graph::save(const Write & write) const {
    // What is thrown may not pass through usearch's functions.
    std::exception_ptr thrown;
    auto result = inner_->hnsw.save_to_stream([&](const void * bytes, size_t size) {
        try {
            write(bytes, size);
        } catch (...) {
            thrown = std::current_exception();
        }
        return !thrown;
    });
    if (thrown) {
        result.error.release();
        std::rethrow_exception(thrown);
    }
    expect(result, "internal", "the links between vectors could not be written");
}

std::unique_ptr<Graph> Graph::loaded(GraphShape shape, uint32_t n_rows, const uint8_t * bytes, size_t size) {
    check_graph_bytes(bytes, size, n_rows, shape.connectivity);
    return copied(shape, n_rows, bytes);
}

std::unique_ptr<Graph> Graph::thawed() const { return copied(shape_, count(), viewed_bytes_); }

std::unique_ptr<Graph> Graph::copied(GraphShape shape, uint32_t n_rows, const uint8_t * bytes) {
    auto graph = std::make_unique<Graph>(shape);
    graph->inner_->reserve(n_rows);
    auto result = graph->inner_->hnsw.load_from_stream([at = bytes](void * to, size_t count) mutable {
        // usearch looks for want of memory only behind the first use of it.
        if (to == nullptr) return false;
        std::memcpy(to, at, count);
        at += count;
        return true;
    });
    expect(result, "out_of_memory", kNoMemory);
    return graph;
}

std::unique_ptr<Graph> Graph::viewed(GraphShape shape, uint32_t n_rows, const uint8_t * bytes, size_t size) {
    check_graph_bytes(bytes, size, n_rows, shape.connectivity);
    auto graph = std::make_unique<Graph>(shape);
    graph->inner_->reserve(0);
    // usearch takes a pointer to what may be written, and writes nothing while searching.
    auto * start = reinterpret_cast<char *>(const_cast<uint8_t *>(bytes));
    auto result = graph->inner_->hnsw.view(unum::usearch::memory_mapped_file_t(start, size));
    expect(result, "out_of_memory", kNoMemory);
    graph->viewed_bytes_ = bytes;
    return graph;
}

}  // namespace svc
