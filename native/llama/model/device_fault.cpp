#include "device_fault.h"

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "backend.h"
#include "ggml.h"

namespace svc {

namespace {

thread_local int n_scopes = 0;
thread_local std::string fault;
std::atomic<bool> is_lost{false};

bool contains(const std::string & text, const char * part) { return text.find(part) != std::string::npos; }

// ggml-cuda logs "CUDA error: REASON", then where it was, and ends with "CUDA error".
std::string reason_of(const std::string & log) {
    const char * const mark = "error: ";
    const auto at = log.find(mark);
    if (at == std::string::npos) return "its driver gave no reason";
    const auto from = at + std::string(mark).size();
    return log.substr(from, log.find('\n', from) - from);
}

struct Noted {
    std::mutex mutex;
    std::string reason;
};

Noted & noted() {
    static Noted noted;
    return noted;
}

void note(const std::string & reason) {
    const std::lock_guard lock(noted().mutex);
    noted().reason = reason;
}

void on_abort(const char * message) {
    const bool is_device = contains(message, "CUDA error") || contains(message, "ROCm error") || contains(message, "MUSA error");
    if (is_device && n_scopes > 0 && std::uncaught_exceptions() == 0) {
        const auto reason = reason_of(take_error_log());
        if (!contains(reason, "out of memory")) is_lost = true;
        note(reason);
        fault = "the GPU failed: " + reason;
        throw_device_fault();
    }
    std::fprintf(stderr, "%s\n", message);
}

}  // namespace

void install_device_faults() { ggml_set_abort_callback(on_abort); }

DeviceFaultScope::DeviceFaultScope() {
    if (n_scopes++ == 0) fault.clear();
}
DeviceFaultScope::~DeviceFaultScope() { n_scopes--; }

void throw_device_fault() {
    if (!fault.empty()) throw StatusError(kDeviceFailed, fault);
}

bool is_device_lost() { return is_lost; }

std::string last_device_fault() {
    const std::lock_guard lock(noted().mutex);
    return noted().reason;
}

void keep_forever(std::shared_ptr<void> thing) {
    static std::mutex mutex;
    static auto & things = *new std::vector<std::shared_ptr<void>>;
    const std::lock_guard lock(mutex);
    const MemoryWait wait;
    things.push_back(std::move(thing));
}

}  // namespace svc
