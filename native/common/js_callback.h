// A JS function for native threads to call. Node frees a thread-safe function when its environment ends, whoever still holds it;
// a worker thread that is terminated in the middle of work would leave native threads with a dangling one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "napi_setup.h"

namespace svc {

class JsCallback {
  public:
    using Call = std::function<void(Napi::Env, Napi::Function)>;

    static std::shared_ptr<JsCallback> create(Napi::Env env, const Napi::Function & function, const char * name) {
        std::shared_ptr<JsCallback> self(new JsCallback());
        auto kept = std::make_unique<std::shared_ptr<JsCallback>>(self);
        self->function_ = Napi::ThreadSafeFunction::New(env, function, Napi::Object(), name, 0, 1, static_cast<void *>(nullptr),
                                                        end, kept.get());
        kept.release();  // end() frees it
        return self;
    }

    // Any thread. Queues the call for the JS thread; does nothing once the function or its environment is gone. Throws bad_alloc.
    // Where memory runs out during the call, it is made again.
    void call(Call call) {
        std::lock_guard lock(mutex_);
        if (gone_) return;
        function_.NonBlockingCall([call = std::move(call)](Napi::Env env, Napi::Function function) {
            for (bool again = true; again;) {
                try {
                    call(env, function);
                    again = false;
                } catch (const std::bad_alloc &) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                }
            }
        });
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
