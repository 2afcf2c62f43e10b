#include "memory_use.h"

#ifdef __GLIBC__
#include <malloc.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif

#include "device.h"
#include "ggml-backend.h"
#include "llama-ext.h"

namespace svc {

namespace {

bool is_on_device(ggml_backend_buffer_type_t type) {
    auto * device = ggml_backend_buft_get_device(type);
    return !ggml_backend_buft_is_host(type) && device && is_gpu(device);
}

template <typename Part> MemoryUse sum_of(const llama_context * context, Part part) {
    MemoryUse use;
    for (const auto & [type, data] : llama_get_memory_breakdown(context))
        (is_on_device(type) ? use.device : use.host) += static_cast<double>(part(data));
    return use;
}

}  // namespace

MemoryUse memory_of(const llama_context * context, uint32_t n_rows) {
    auto use = sum_of(context, [](const llama_memory_breakdown_data & data) { return data.context + data.compute; });
    const auto * vocab = llama_model_get_vocab(llama_get_model(context));
    use.host += static_cast<double>(n_rows) * llama_vocab_n_tokens(vocab) * sizeof(float);
    return use;
}

MemoryUse weights_of(const llama_context * context) {
    return sum_of(context, [](const llama_memory_breakdown_data & data) { return data.model; });
}

MemoryUse mapped_weights_of(const llama_context * context) {
    auto * cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    auto use = weights_of(context);
    double in_place = 0;
    for (const auto & [type, data] : llama_get_memory_breakdown(context)) {
        if (cpu && type == ggml_backend_dev_buffer_type(cpu)) in_place += static_cast<double>(data.model);
    }
    if (in_place > 0) use.host += static_cast<double>(llama_model_size(llama_get_model(context))) - in_place;
    return use;
}

double heap_in_use() {
#ifdef __GLIBC__
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
#elif defined(__APPLE__)
    malloc_statistics_t statistics;
    malloc_zone_statistics(nullptr, &statistics);
    return static_cast<double>(statistics.size_in_use);
#else
    return 0;
#endif
}

}  // namespace svc
