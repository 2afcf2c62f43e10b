// A JS function for native threads to call. Node frees a thread-safe function when its environment ends, whoever still holds it;
// a worker thread that is terminated in the middle of work would leave native threads with a dangling one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "napi_setup.h"

namespace svc {

class JsCallback {
  public:
    using Call = std::function<void(Napi::Env, Napi::Function)>;

    static std::shared_ptr<JsCallback> create(Napi::Env env, const Napi::Function & function, const char * name) {
        std::shared_ptr<JsCallback> self(new JsCallback());
        auto * kept = new std::shared_ptr<JsCallback>(self);
        self->function_ =
            Napi::ThreadSafeFunction::New(env, function, Napi::Object(), name, 0, 1, static_cast<void *>(nullptr), end, kept);
        return self;
    }

    // Any thread. Queues the call for the JS thread; does nothing once the function or its environment is gone.
    void call(Call call) {
        std::lock_guard lock(mutex_);
        if (!gone_) function_.NonBlockingCall(std::move(call));
    }

    // Any thread. Calls queued before still run.
    void release() {
        std::lock_guard lock(mutex_);
        if (!gone_) function_.Release();
        gone_ = true;
    }

  private:
    JsCallback() = default;

    // JS thread: Node is about to free the function.
    static void end(Napi::Env, std::shared_ptr<JsCallback> * kept, void *) {
        {
            std::lock_guard lock((*kept)->mutex_);
            (*kept)->gone_ = true;
        }
        delete kept;
    }

    std::mutex mutex_;
    bool gone_ = false;
    Napi::ThreadSafeFunction function_;
};

}  // namespace svc
