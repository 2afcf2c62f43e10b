// A device that fails (its memory is full, the GPU is lost, its architecture was not compiled) makes ggml end the process. On a
// thread that holds a scope, what ggml would end becomes StatusError device_failed in place of that. Whatever computed there is
// not used again and never freed: the driver may refuse every call, and ggml's locks stay as they were.
#pragma once

#include <memory>
#include <string>

namespace svc {

constexpr const char * kDeviceFailed = "device_failed";

// Once in a process.
void install_device_faults();

class DeviceFaultScope {
  public:
    DeviceFaultScope();
    ~DeviceFaultScope();
    DeviceFaultScope(const DeviceFaultScope &) = delete;
    DeviceFaultScope & operator=(const DeviceFaultScope &) = delete;
};

// Throws what a device's end was on this thread since its scope began; some of llama.cpp's functions catch it and return null.
void throw_device_fault();

// Whether a device failed for another reason than a lack of memory: nothing on any device may be freed then.
bool is_device_lost();

// Of the last failure; empty: there was none.
std::string last_device_fault();

// Keeps what must not be freed to the end of the process, and may still be pointed to.
void keep_forever(std::shared_ptr<void> thing);

template <typename T, typename Deleter> void keep_forever(std::unique_ptr<T, Deleter> & thing) {
    if (thing) keep_forever(std::shared_ptr<void>(thing.release(), [](void *) {}));
}

}  // namespace svc
