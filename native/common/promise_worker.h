// Short work for libuv's pool that settles a promise: Execute runs off the JS thread, Result builds the value on it. What may
// take seconds goes to a PromiseThread.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "env_state.h"

namespace svc {

template <typename T> class PromiseWorker : public Napi::AsyncWorker {
  public:
    using Work = std::function<T()>;
    using Wrap = std::function<Napi::Value(Napi::Env, T &)>;

    // Starts the work and returns its promise. The worker deletes itself.
    static Napi::Promise start(Napi::Env env, Work work, Wrap wrap) {
        auto * worker = new PromiseWorker(env, std::move(work), std::move(wrap));
        auto promise = worker->deferred_.Promise();
        worker->Queue();
        return promise;
    }

  private:
    PromiseWorker(Napi::Env env, Work work, Wrap wrap)
        : Napi::AsyncWorker(env), work_(std::move(work)), wrap_(std::move(wrap)), deferred_(env) {}

    void Execute() override {
        status_ = catch_status([&] { value_ = std::make_unique<T>(work_()); });
    }

    // Whatever fails here still settles the promise: an exception would be nobody's, and end the process.
    void OnOK() override {
        Napi::HandleScope scope(Env());
        Napi::Value result;
        Napi::Value refusal;
        if (status_.code.empty()) {
            status_ = catch_status([&] {
                try {
                    result = wrap_(Env(), *value_);
                } catch (const Napi::Error & error) {
                    refusal = error.Value();
                }
            });
        }
        if (!status_.code.empty()) persist([&] { refusal = make_error(Env(), status_); });
        if (refusal.IsEmpty()) deferred_.Resolve(result);
        else deferred_.Reject(refusal);
    }

    Work work_;
    Wrap wrap_;
    std::unique_ptr<T> value_;
    Status status_;
    Napi::Promise::Deferred deferred_;
};

}  // namespace svc
