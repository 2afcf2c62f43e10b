// What kind of device computes.
#pragma once

#include "ggml-backend.h"

namespace svc {

// An integrated GPU too: it computes beside the CPU and has buffers of its own, although they lie in the machine's memory.
inline bool is_gpu(ggml_backend_dev_t device) {
    const auto type = ggml_backend_dev_type(device);
    return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

}  // namespace svc
