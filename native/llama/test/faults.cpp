// A library for LD_PRELOAD that makes what our own code asks for fail: an allocation, a new thread, or the evaluation of a
// physical batch. It is a Node addon too, through which a test arms it: arm(kind, first, count) lets the requests from `first`
// (counted from 1) fail, `count` of them; seen() says how many requests there were since. Upstream's and Node's own requests
// never fail. arm("read", bytes, 0) slows large reads down to so many bytes a second for each file, as a slow disk does;
// arm("copy", microseconds, 0) makes each copy out of a tensor take so long. With SVC_TEST_FAULTS_TOLD in the environment, the
// stack of each failure is written to stderr.
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include <unistd.h>

#include <node_api.h>

namespace {

enum class Kind : uint32_t { None, Allocation, Thread, Evaluation, Read, Copy };

std::atomic<Kind> armed{Kind::None};
std::atomic<uint64_t> n_seen{0};
uint64_t first = 0;
uint64_t count = 0;

struct Range {
    uintptr_t begin;
    uintptr_t end;
};
constexpr size_t kMostRanges = 16;
Range ours[kMostRanges];
Range runtime[kMostRanges];
size_t n_ours = 0;
size_t n_runtime = 0;

const char * const kOurs[] = {"/svc_llama.node", "/svc_vector.node", "/svc_system.node", "/libsvc-compute-team.so"};
const char * const kRuntime[] = {"/libstdc++.so", "/faults.node", "/libasan.so", "/libtsan.so"};

template <size_t N> bool names(const char * path, const char * const (&list)[N]) {
    for (const char * name : list) {
        if (std::strstr(path, name)) return true;
    }
    return false;
}

int add_range(dl_phdr_info * info, size_t, void *) {
    uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const auto & header = info->dlpi_phdr[i];
        if (header.p_type == PT_LOAD && header.p_vaddr + header.p_memsz > end) end = header.p_vaddr + header.p_memsz;
    }
    const Range range{info->dlpi_addr, info->dlpi_addr + end};
    if (names(info->dlpi_name, kOurs) && n_ours < kMostRanges) ours[n_ours++] = range;
    if (names(info->dlpi_name, kRuntime) && n_runtime < kMostRanges) runtime[n_runtime++] = range;
    return 0;
}

bool is_in(const Range * ranges, size_t n_ranges, const void * address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (size_t i = 0; i < n_ranges; i++) {
        if (at >= ranges[i].begin && at < ranges[i].end) return true;
    }
    return false;
}

// The walk over the stack may allocate.
thread_local bool looking = false;

// Whether our code asks, by itself or through the C++ library.
bool is_ours(const void * caller) {
    if (is_in(ours, n_ours, caller)) return true;
    if (!is_in(runtime, n_runtime, caller) || looking) return false;
    looking = true;
    void * frames[12];
    const int n_frames = backtrace(frames, 12);
    looking = false;
    for (int i = 1; i < n_frames; i++) {
        if (is_in(ours, n_ours, frames[i])) return true;
        if (!is_in(runtime, n_runtime, frames[i])) return false;
    }
    return false;
}

void tell_stack() {
    looking = true;
    void * frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    looking = false;
}

bool fails(Kind kind, const void * caller) {
    if (armed.load(std::memory_order_acquire) != kind || (kind != Kind::Evaluation && !is_ours(caller))) return false;
    const uint64_t nth = ++n_seen;
    if (nth < first || nth - first >= count) return false;
    static const bool tells = std::getenv("SVC_TEST_FAULTS_TOLD") != nullptr;
    if (tells) tell_stack();
    return true;
}

template <typename Function> Function next(const char * name) { return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)); }

void * allocate(const char * name, size_t size, const void * caller) {
    // As C++ does it: the handler finds memory, or throws.
    while (fails(Kind::Allocation, caller)) {
        const auto handler = std::get_new_handler();
        if (!handler) throw std::bad_alloc();
        handler();
    }
    // A sanitizer's own functions come next where there is one.
    static auto * const plain = next<void * (*)(size_t)>("_Znwm");
    static auto * const array = next<void * (*)(size_t)>("_Znam");
    return (name[3] == 'w' ? plain : array)(size);
}

// The process ends over something that nobody caught: where it was thrown, or where it may not be.
[[noreturn]] void tell_and_abort() {
    tell_stack();
    std::abort();
}

Kind kind_of(const char * name) {
    if (std::strcmp(name, "allocation") == 0) return Kind::Allocation;
    if (std::strcmp(name, "thread") == 0) return Kind::Thread;
    if (std::strcmp(name, "read") == 0) return Kind::Read;
    if (std::strcmp(name, "copy") == 0) return Kind::Copy;
    return std::strcmp(name, "evaluation") == 0 ? Kind::Evaluation : Kind::None;
}

// Smaller reads are those of headers.
constexpr size_t kLargeRead = 1 << 20;

napi_value arm(napi_env env, napi_callback_info info) {
    size_t n_arguments = 3;
    napi_value arguments[3];
    napi_get_cb_info(env, info, &n_arguments, arguments, nullptr, nullptr);
    char name[32] = "";
    size_t length = 0;
    int64_t from = 0;
    int64_t many = 0;
    napi_get_value_string_utf8(env, arguments[0], name, sizeof name, &length);
    napi_get_value_int64(env, arguments[1], &from);
    napi_get_value_int64(env, arguments[2], &many);
    armed.store(Kind::None);
    n_ours = 0;
    n_runtime = 0;
    dl_iterate_phdr(add_range, nullptr);
    void * frame;
    backtrace(&frame, 1);  // the first call loads the unwinder
    std::set_terminate(tell_and_abort);
    n_seen = 0;
    first = static_cast<uint64_t>(from);
    count = static_cast<uint64_t>(many);
    armed.store(kind_of(name), std::memory_order_release);
    return nullptr;
}

napi_value seen(napi_env env, napi_callback_info) {
    napi_value value;
    napi_create_int64(env, static_cast<int64_t>(n_seen.load()), &value);
    return value;
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

EXPORT void * operator new(size_t size) { return allocate("_Znwm", size, __builtin_return_address(0)); }
EXPORT void * operator new[](size_t size) { return allocate("_Znam", size, __builtin_return_address(0)); }

extern "C" {

EXPORT int pthread_create(pthread_t * thread, const pthread_attr_t * attributes, void * (*run)(void *), void * argument) {
    using Create = int (*)(pthread_t *, const pthread_attr_t *, void * (*)(void *), void *);
    static auto * const create = next<Create>("pthread_create");
    if (fails(Kind::Thread, __builtin_return_address(0))) return EAGAIN;
    return create(thread, attributes, run, argument);
}

// libllama's way to read weights that are not mapped.
EXPORT size_t fread(void * to, size_t size, size_t n_items, FILE * file) {
    using Read = size_t (*)(void *, size_t, size_t, FILE *);
    static auto * const read = next<Read>("fread");
    const size_t n_bytes = size * n_items;
    if (armed.load(std::memory_order_acquire) != Kind::Read || n_bytes < kLargeRead) return read(to, size, n_items, file);
    for (size_t at = 0; at < n_bytes;) {
        const size_t chunk = n_bytes - at < kLargeRead ? n_bytes - at : kLargeRead;
        if (read(static_cast<char *>(to) + at, 1, chunk, file) != chunk) return at / size;
        at += chunk;
        n_seen++;
        std::this_thread::sleep_for(std::chrono::nanoseconds(chunk * 1000000000 / first));
    }
    return n_items;
}

// libllama's only way to evaluate a physical batch; -1 is GGML_STATUS_FAILED.
EXPORT int ggml_backend_sched_graph_compute_async(void * scheduler, void * graph) {
    using Compute = int (*)(void *, void *);
    static auto * const compute = reinterpret_cast<Compute>(
        dlsym(dlopen("libggml-base.so.0", RTLD_LAZY | RTLD_NOLOAD), "ggml_backend_sched_graph_compute_async"));
    if (fails(Kind::Evaluation, nullptr)) return -1;
    return compute(scheduler, graph);
}

// How states of sequences are read.
EXPORT void ggml_backend_tensor_get(const void * tensor, void * data, size_t offset, size_t size) {
    using Get = void (*)(const void *, void *, size_t, size_t);
    static auto * const get =
        reinterpret_cast<Get>(dlsym(dlopen("libggml-base.so.0", RTLD_LAZY | RTLD_NOLOAD), "ggml_backend_tensor_get"));
    if (armed.load(std::memory_order_acquire) == Kind::Copy) std::this_thread::sleep_for(std::chrono::microseconds(first));
    get(tensor, data, offset, size);
}

EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports) {
    napi_value function;
    napi_create_function(env, "arm", NAPI_AUTO_LENGTH, arm, nullptr, &function);
    napi_set_named_property(env, exports, "arm", function);
    napi_create_function(env, "seen", NAPI_AUTO_LENGTH, seen, nullptr, &function);
    napi_set_named_property(env, exports, "seen", function);
    return exports;
}

EXPORT int32_t node_api_module_get_api_version_v1() { return 9; }
}
