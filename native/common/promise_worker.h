// Work for libuv's pool that settles a promise: Execute runs off the JS thread, Result builds the value on it.
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

    void OnOK() override {
        Napi::HandleScope scope(Env());
        if (status_.code.empty()) deferred_.Resolve(wrap_(Env(), *value_));
        else deferred_.Reject(make_error(Env(), status_));
    }

    Work work_;
    Wrap wrap_;
    std::unique_ptr<T> value_;
    Status status_;
    Napi::Promise::Deferred deferred_;
};

}  // namespace svc
