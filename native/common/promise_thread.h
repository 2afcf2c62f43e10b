// Work in a thread of its own that settles a promise; in libuv's pool where the system has no thread to give.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "env_state.h"
#include "promise_worker.h"

namespace svc {

template <typename T> class PromiseThread {
  public:
    using Work = std::function<T()>;
    using Wrap = std::function<Napi::Value(Napi::Env, T &)>;

    // `work` runs off the JS thread, `wrap` builds the value on it.
    static Napi::Promise start(Napi::Env env, const Work & work, const Wrap & wrap) {
        struct Outcome {
            std::unique_ptr<T> value;
            Status status;
        };
        auto outcome = std::make_shared<Outcome>();
        auto deferred = Napi::Promise::Deferred::New(env);
        // Nothing may fail once the work has begun: a promise that nobody has is rejected into the void.
        const auto promise = deferred.Promise();
        const bool started = EnvState::of(env).work_threads.start(
            env, [outcome, work] { outcome->status = catch_status([&] { outcome->value = std::make_unique<T>(work()); }); },
            [outcome, deferred, wrap](Napi::Env e) {
                const MemoryWait wait;
                Napi::Value result;
                Napi::Value refusal;
                if (outcome->status.code.empty()) {
                    outcome->status = catch_status([&] {
                        try {
                            result = wrap(e, *outcome->value);
                        } catch (const Napi::Error & error) {
                            refusal = error.Value();
                        }
                    });
                }
                if (!outcome->status.code.empty()) refusal = make_error(e, outcome->status);
                if (refusal.IsEmpty()) deferred.Resolve(result);
                else deferred.Reject(refusal);
            });
        return started ? promise : PromiseWorker<T>::start(env, work, wrap);
    }
};

}  // namespace svc
