#include "index_file.h"

#include <cstring>

#include "../../common/status.h"
#include "../files/atomic_file.h"
#include "../files/checksum.h"
#include "../files/mapped_file.h"

namespace svc {

namespace {

constexpr char kMagic[8] = {'S', 'V', 'C', 'V', 'E', 'C', 'T', '\n'};
constexpr uint32_t kVersion = 2;
constexpr size_t kAlignment = 64;

struct Header {
    char magic[8];
    uint32_t version;
    uint32_t dims;
    uint32_t connectivity;
    uint32_t n_rows;
    uint32_t n_linked;
    uint32_t label_bytes;
    uint64_t graph_bytes;
    uint64_t body_checksum;
    char label[kMostLabelBytes];
    uint32_t storage;
    uint32_t reserved;
    // Of all before it.
    uint64_t checksum;
};
static_assert(sizeof(Header) == 320 && sizeof(Header) % kAlignment == 0, "the header is written as it lies in memory");

uint64_t checksum_of(const Header & header) {
    Checksum sum;
    sum.add(&header, offsetof(Header, checksum));
    return sum.value();
}

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

// Where the parts lie. Nothing can overflow: there are fewer than 2^32 rows of at most 2^17 bytes.
struct Layout {
    explicit Layout(const Header & header)
        : rows(aligned(sizeof(Header) + uint64_t{header.n_rows} * sizeof(uint64_t))),
          codes(aligned(rows + uint64_t{header.n_rows} * stride_of(header.dims) * sizeof(uint16_t))),
          graph(codes + uint64_t{header.n_rows} * code_bytes_of(header.dims, static_cast<Storage>(header.storage))) {}

    const uint64_t keys = sizeof(Header);
    const uint64_t rows;
    const uint64_t codes;
    const uint64_t graph;
};

[[noreturn]] void refuse(const char * why) { throw StatusError("index_invalid", std::string("the index file ") + why); }

Header checked_header(const MappedFile & file, const IndexOptions & options) {
    Header header;
    if (file.size() < sizeof(header)) refuse("is too short");
    std::memcpy(&header, file.bytes(), sizeof(header));
    if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) refuse("is none");
    if (header.version != kVersion) refuse("is of another version");
    if (header.checksum != checksum_of(header)) refuse("is damaged");
    if (header.dims != options.rows.dims) refuse("has vectors of other dimensions");
    if (header.storage != static_cast<uint32_t>(options.rows.storage)) refuse("has vectors of another storage");
    if (header.label_bytes > kMostLabelBytes || std::string(header.label, header.label_bytes) != options.label)
        refuse("has another label");
    if (header.connectivity < kLeastConnectivity || header.connectivity > kMostConnectivity) refuse("is damaged");
    if (header.n_rows > kMostRows || header.n_linked > header.n_rows) refuse("is damaged");
    if ((header.n_linked == 0) != (header.graph_bytes == 0)) refuse("is damaged");
    return header;
}

void check_body(const MappedFile & file, const Header & header) {
    const Layout layout(header);
    if (layout.graph > file.size() || header.graph_bytes != file.size() - layout.graph)
        refuse("is shorter or longer than it says");
    Checksum sum;
    sum.add(file.bytes() + sizeof(Header), file.size() - sizeof(Header));
    if (sum.value() != header.body_checksum) refuse("is damaged");
}

RowKeys checked_keys(const MappedFile & file, const Header & header) {
    // A mapping starts at a page, and the keys a multiple of their size behind it.
    const auto * start = reinterpret_cast<const uint64_t *>(file.bytes() + Layout(header).keys);
    std::vector<uint64_t> keys(start, start + header.n_rows);
    for (const auto key : keys)
        if (key > kMostKey && key != kNoKey) refuse("has a key that is none");
    return RowKeys(std::move(keys));
}

// Rows that lie in the file, which they keep.
Rows mapped_rows(const std::shared_ptr<const MappedFile> & file, const Header & header, const RowShape & shape) {
    const Layout layout(header);
    return Rows(shape, checked_keys(*file, header), file->bytes() + layout.rows, file->bytes() + layout.codes, file);
}

using ReadGraph = std::unique_ptr<Graph> (*)(GraphShape, uint32_t, const uint8_t *, size_t);

std::unique_ptr<Graph> read_graph(const MappedFile & file, const Header & header, GraphShape shape, ReadGraph read) {
    if (header.n_linked == 0) return std::make_unique<Graph>(shape);
    return read(shape, header.n_linked, file.bytes() + Layout(header).graph, header.graph_bytes);
}

Header header_of(const IndexOptions & options, const SavedRows & saved) {
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof(kMagic));
    header.version = kVersion;
    header.dims = options.rows.dims;
    header.storage = static_cast<uint32_t>(options.rows.storage);
    header.connectivity = options.graph.connectivity;
    header.n_rows = saved.count();
    header.n_linked = saved.graph().count();
    header.label_bytes = static_cast<uint32_t>(options.label.size());
    std::memcpy(header.label, options.label.data(), options.label.size());
    return header;
}

}  // namespace

SavedRows::SavedRows(std::shared_ptr<const IndexState> state)
    : state_(std::move(state)),
      keys_(state_->rows.keys().all()),
      exact_(state_->rows.exact_blocks().starts()),
      codes_(state_->rows.code_blocks().starts()) {}

void write_index(const std::string & path, const IndexOptions & options, const SavedRows & saved) {
    Header header = header_of(options, saved);
    AtomicFile file(path);
    file.write(&header, sizeof(header));
    Checksum sum;
    const auto write = [&](const void * bytes, size_t size) {
        sum.add(bytes, size);
        file.write(bytes, size);
    };
    write(saved.keys().data(), saved.count() * sizeof(uint64_t));
    constexpr uint8_t kNothing[kAlignment] = {};
    const Layout layout(header);
    write(kNothing, layout.rows - layout.keys - saved.count() * sizeof(uint64_t));
    saved.exact(write);
    write(kNothing, layout.codes - layout.rows - uint64_t{saved.count()} * stride_of(header.dims) * sizeof(uint16_t));
    saved.codes(write);
    if (header.n_linked > 0) {
        saved.graph().save([&](const void * bytes, size_t size) {
            header.graph_bytes += size;
            write(bytes, size);
        });
    }
    header.body_checksum = sum.value();
    header.checksum = checksum_of(header);
    file.write_at(0, &header, sizeof(header));
    file.commit();
}

IndexState view_index(const std::string & path, IndexOptions & options) {
    const auto file = std::make_shared<const MappedFile>(path);
    const auto header = checked_header(*file, options);
    check_body(*file, header);
    options.graph.connectivity = header.connectivity;
    auto graph = read_graph(*file, header, options.graph, Graph::viewed);
    return {mapped_rows(file, header, options.rows), std::move(graph)};
}

IndexState load_index(const std::string & path, IndexOptions & options) {
    const auto file = std::make_shared<const MappedFile>(path);
    const auto header = checked_header(*file, options);
    check_body(*file, header);
    options.graph.connectivity = header.connectivity;
    IndexState state{Rows(options.rows), read_graph(*file, header, options.graph, Graph::loaded)};
    const auto rows = mapped_rows(file, header, options.rows);
    for (uint32_t row = 0; row < rows.count(); row++) state.rows.add_from(rows, row);
    return state;
}

}  // namespace svc
