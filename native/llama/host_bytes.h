// Large blocks of host memory that are filled at once and kept for long.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace svc {

struct FreeHostBytes {
    void operator()(uint8_t * bytes) const { std::free(bytes); }
};
using HostBytes = std::unique_ptr<uint8_t[], FreeHostBytes>;

// Uninitialised. Where the kernel allows it, in pages of 2 MiB: with 4 KiB ones, page faults take longer than to fill the block.
// Throws std::bad_alloc.
inline HostBytes allocate_host_bytes(size_t n_bytes) {
    constexpr size_t kHugePage = 2 * 1024 * 1024;
    if (n_bytes < kHugePage) {
        auto * bytes = static_cast<uint8_t *>(std::malloc(n_bytes > 0 ? n_bytes : 1));
        if (!bytes) throw std::bad_alloc();
        return HostBytes(bytes);
    }
    if (n_bytes > SIZE_MAX - kHugePage) throw std::bad_alloc();
    // Only whole pages become huge: the rest of the last one stays as it is, so that the block takes no more than it needs.
    const size_t n_rounded = (n_bytes + kHugePage - 1) / kHugePage * kHugePage;
    auto * bytes = static_cast<uint8_t *>(std::aligned_alloc(kHugePage, n_rounded));
    if (!bytes) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(bytes, n_bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
    return HostBytes(bytes);
}

}  // namespace svc
