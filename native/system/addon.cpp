// What the addon gives to JS; the typed binding is ts/server/native/system.ts.
#include "../common/env_state.h"
#include "../common/freed_heap.h"
#include "../common/promise_worker.h"
#include "acceptor_object.h"
#include "service_manager.h"

namespace svc {

namespace {

// initialise(folder, errorFactory): once for each environment, before anything else.
Napi::Value initialise(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        if (!info[1].IsFunction()) throw StatusError("invalid_argument", "initialise takes a folder and an error factory");
        EnvState::of(env).error_factory = Napi::Persistent(info[1].As<Napi::Function>());
        bound_freed_heap();
        return env.Undefined();
    });
}

Napi::Value notify(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        if (!info[0].IsString()) throw StatusError("invalid_argument", "notify takes a text");
        return Napi::Boolean::New(env, notify_service_manager(info[0].As<Napi::String>().Utf8Value()));
    });
}

// A promise: malloc looks through its whole heap, which takes milliseconds.
Napi::Value release(const Napi::CallbackInfo & info) {
    return PromiseWorker<bool>::start(
        info.Env(),
        [] {
            release_freed_heap();
            return true;
        },
        [](Napi::Env env, bool &) { return env.Undefined(); });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
    env.SetInstanceData(new EnvState());
    AcceptorObject::define(env, exports);
    exports.Set("initialise", Napi::Function::New(env, initialise));
    exports.Set("notify", Napi::Function::New(env, notify));
    exports.Set("releaseFreedHeap", Napi::Function::New(env, release));
    return exports;
}

}  // namespace

}  // namespace svc

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) { return svc::init(env, exports); }

NODE_API_MODULE(svc_system, init_addon)
