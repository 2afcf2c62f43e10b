// Threads for work that may take seconds. libuv's pool has four, and files and names wait for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "js_callback.h"
#include "memory_wait.h"

namespace svc {

// Of one environment; JS thread only, but for the work itself.
class WorkThreads {
  public:
    using Done = std::function<void(Napi::Env)>;

    WorkThreads() = default;
    WorkThreads(const WorkThreads &) = delete;
    WorkThreads & operator=(const WorkThreads &) = delete;

    // The environment goes: what runs is waited for, and no `done` is called any more.
    ~WorkThreads() {
        for (auto & [id, running] : running_) {
            if (running.thread.joinable()) running.thread.join();
        }
    }

    // Runs `work` in a thread of its own, and then `done` on the JS thread, where it is destroyed too: it may hold JS values.
    // `work` must not throw. False, and nothing was begun, where no thread can be had.
    bool start(Napi::Env env, const std::function<void()> & work, Done done) {
        auto nothing = Napi::Function::New(env, [](const Napi::CallbackInfo &) {});
        auto callback = JsCallback::create(env, nothing, "svc.work");
        const uint64_t id = next_id_++;
        try {
            auto & running = running_[id];
            running.done = std::move(done);
            running.thread = std::thread([this, id, callback, work = std::function<void()>(work)]() mutable {
                work();
                work = nullptr;
                const MemoryWait wait;
                callback->call([this, id](Napi::Env e, Napi::Function) { finish(e, id); });
                callback->release();
            });
            return true;
        } catch (const std::system_error &) {
            running_.erase(id);
            callback->release();
            return false;
        } catch (...) {
            running_.erase(id);
            callback->release();
            throw;
        }
    }

  private:
    struct Running {
        std::thread thread;
        Done done;
    };

    // Made again where memory runs out in the middle (JsCallback).
    void finish(Napi::Env env, uint64_t id) {
        auto & running = running_.at(id);
        // It has done its work and only has to return.
        if (running.thread.joinable()) running.thread.join();
        running.done(env);
        running_.erase(id);
    }

    std::map<uint64_t, Running> running_;
    uint64_t next_id_ = 1;
};

}  // namespace svc
