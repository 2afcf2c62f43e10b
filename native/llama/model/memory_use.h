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

}  // namespace svc
