// What malloc keeps of freed memory: the process's own affair, whichever addon frees it.
#pragma once

#ifdef __GLIBC__
#include <malloc.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif

namespace svc {

// Bounds what malloc keeps of freed memory, in an arena for each of several threads. By itself it raises the bound with what is
// freed, to 64 MB an arena: after a few prompts of megabytes the process would hold a gigabyte for good.
inline void bound_freed_heap() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 2 << 20);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

// Returns freed memory to the system, from all arenas. malloc itself returns what lies above the last block that is in use.
inline void release_freed_heap() {
#ifdef __GLIBC__
    malloc_trim(0);
#elif defined(__APPLE__)
    malloc_zone_pressure_relief(nullptr, 0);
#endif
}

}  // namespace svc
