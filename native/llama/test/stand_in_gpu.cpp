// A stand-in for the CUDA backend: devices that say they are GPUs and compute on the CPU. It is linked to a library with the name
// of the driver's, so it loads where that is found and nowhere else. SVC_STAND_IN_GPUS: how many devices there are, 1 unless it
// is set. SVC_STAND_IN_FAILURE: a file; as long as it is there, every computation
// fails for the reason that it has.
#include <cstdlib>
#include <fstream>
#include <string>

#include "ggml-backend-impl.h"
#include "ggml-impl.h"

namespace {

constexpr size_t kMemory = size_t{8} << 30;

ggml_backend_dev_t cpu() { return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU); }

std::string failure() {
    const char * path = std::getenv("SVC_STAND_IN_FAILURE");
    std::ifstream file(path ? path : "");
    std::string reason;
    std::getline(file, reason);
    return reason;
}

// As ggml-cuda ends where the driver refuses a call.
void fail(const std::string & reason) {
    GGML_LOG_ERROR("CUDA error: %s\n", reason.c_str());
    GGML_ABORT("CUDA error");
}

// Memory of the device is the machine's, but nobody else may compute with it.
const char * buffer_type_name(ggml_backend_buffer_type_t) { return "CUDA0"; }

ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, size_t size) {
    auto * buffer = ggml_backend_buft_alloc_buffer(ggml_backend_dev_buffer_type(cpu()), size);
    if (buffer) buffer->buft = type;
    return buffer;
}

size_t alignment(ggml_backend_buffer_type_t) { return 64; }

ggml_backend_buffer_type buffer_type = {{buffer_type_name, allocate, alignment, nullptr, nullptr, nullptr}, nullptr, nullptr};

// A stream of the device: its context is the stream of the CPU that works for it.
ggml_backend_t worker(ggml_backend_t backend) { return static_cast<ggml_backend_t>(backend->context); }

const char * backend_name(ggml_backend_t) { return "CUDA0"; }

void free_backend(ggml_backend_t backend) {
    ggml_backend_free(worker(backend));
    delete backend;
}

ggml_status compute(ggml_backend_t backend, ggml_cgraph * graph) {
    const auto reason = failure();
    if (!reason.empty()) fail(reason);
    return ggml_backend_graph_compute(worker(backend), graph);
}

ggml_guid guid = {0x73, 0x76, 0x63, 0x2d, 0x73, 0x74, 0x61, 0x6e, 0x64, 0x2d, 0x69, 0x6e, 0x2d, 0x67, 0x70, 0x75};

const char * device_name(ggml_backend_dev_t) { return "CUDA0"; }
const char * device_description(ggml_backend_dev_t) { return "stand-in GPU"; }

// A GPU that has no memory left still tells how much it has; a lost one answers nothing.
void device_memory(ggml_backend_dev_t, size_t * free, size_t * total) {
    const auto reason = failure();
    if (!reason.empty() && reason != "out of memory") fail(reason);
    *free = kMemory;
    *total = kMemory;
}

enum ggml_backend_dev_type device_type(ggml_backend_dev_t) { return GGML_BACKEND_DEVICE_TYPE_GPU; }

void device_props(ggml_backend_dev_t device, ggml_backend_dev_props * props) {
    *props = {};
    props->name = device_name(device);
    props->description = device_description(device);
    props->type = device_type(device);
    device_memory(device, &props->memory_free, &props->memory_total);
}

ggml_backend_t open_stream(ggml_backend_dev_t device, const char *) {
    ggml_backend_i calls = {};
    calls.get_name = backend_name;
    calls.free = free_backend;
    calls.graph_compute = compute;
    return new ggml_backend{&guid, calls, device, ggml_backend_dev_init(cpu(), nullptr)};
}

ggml_backend_buffer_type_t device_buffer_type(ggml_backend_dev_t device) {
    buffer_type.device = device;
    return &buffer_type;
}

bool supports_op(ggml_backend_dev_t, const ggml_tensor * op) { return ggml_backend_dev_supports_op(cpu(), op); }
bool supports_buffer_type(ggml_backend_dev_t, ggml_backend_buffer_type_t type) { return type == &buffer_type; }

const char * registry_name(ggml_backend_reg_t) { return "CUDA"; }

size_t device_count(ggml_backend_reg_t) {
    const char * count = std::getenv("SVC_STAND_IN_GPUS");
    return count && std::string(count) == "0" ? 0 : 1;
}

ggml_backend_dev_t device_of(ggml_backend_reg_t registry, size_t) {
    static ggml_backend_device device = [&] {
        ggml_backend_device made = {};
        made.iface.get_name = device_name;
        made.iface.get_description = device_description;
        made.iface.get_memory = device_memory;
        made.iface.get_type = device_type;
        made.iface.get_props = device_props;
        made.iface.init_backend = open_stream;
        made.iface.get_buffer_type = device_buffer_type;
        made.iface.supports_op = supports_op;
        made.iface.supports_buft = supports_buffer_type;
        made.reg = registry;
        return made;
    }();
    return &device;
}

void * no_functions(ggml_backend_reg_t, const char *) { return nullptr; }

}  // namespace

// What the driver's library would answer; see CMakeLists.txt.
extern "C" int cuInit(unsigned);

extern "C" __attribute__((visibility("default"))) ggml_backend_reg_t ggml_backend_init() {
    static ggml_backend_reg registry = {
        GGML_BACKEND_API_VERSION, {registry_name, device_count, device_of, no_functions}, nullptr};
    return cuInit(0) == 0 ? &registry : nullptr;
}
