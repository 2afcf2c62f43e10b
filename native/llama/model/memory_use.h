// Bytes that models and contexts take, in main memory and in the memory of devices.
#pragma once

#include <cstdint>

#include "llama.h"

namespace svc {

struct MemoryUse {
    double host = 0;
    double device = 0;

    MemoryUse & operator+=(const MemoryUse & other) {
        host += other.host;
        device += other.device;
        return *this;
    }
};

// KV cache and compute buffers of a context, and so many rows of logits.
MemoryUse memory_of(const llama_context * context, uint32_t n_rows);
// The weights of the context's model.
MemoryUse weights_of(const llama_context * context);

// The same for a model of a dry run that will be mapped: as long as some weights are used in place, the file is mapped whole,
// also where weights are copied into another layout.
MemoryUse mapped_weights_of(const llama_context * context);

// Bytes that the whole process holds from malloc; 0 where the system does not tell.
double heap_in_use();

// Bounds what malloc keeps of freed memory, in an arena for each of several threads. By itself it raises the bound with what is
// freed, to 64 MB an arena: after a few prompts of megabytes the process would hold a gigabyte for good.
void bound_freed_heap();

// Returns freed memory to the system. malloc keeps it, in an arena for each of several threads, until the same threads ask again.
void release_freed_heap();

}  // namespace svc
