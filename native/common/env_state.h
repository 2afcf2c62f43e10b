// What an addon keeps per JS environment (main thread or worker). It dies in Node's cleanup hook, so nothing here is global.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "napi_setup.h"
#include "status.h"
#include "work_threads.h"

namespace svc {

struct EnvState {
    Napi::FunctionReference error_factory;
    std::map<std::string, Napi::FunctionReference> constructors;
    // Closes what this environment still has running; called once, before the environment goes.
    std::map<const void *, std::function<void()>> closers;
    WorkThreads work_threads;

    static EnvState & of(Napi::Env env) { return *env.GetInstanceData<EnvState>(); }

    ~EnvState() {
        auto pending = std::move(closers);
        for (auto & [owner, close] : pending) close();
    }
};

// Builds the JS error of a status; falls back to a plain Error before initialise() has run.
inline Napi::Value make_error(Napi::Env env, const Status & status) {
    auto & state = EnvState::of(env);
    if (state.error_factory.IsEmpty()) return Napi::Error::New(env, status.text).Value();
    auto object = Napi::Object::New(env);
    object.Set("code", status.code);
    object.Set("text", status.text);
    auto details = Napi::Object::New(env);
    if (status.code == "context_length_exceeded") {
        details.Set("nPromptTokens", status.number_a);
        details.Set("nCtx", status.number_b);
        if (status.input >= 0) details.Set("input", status.input);
    }
    if (status.code == "queue_full") details.Set("retryAfterMs", status.number_a);
    object.Set("details", details);
    return state.error_factory.Call({object});
}

// For the native part of a constructor, whose errors come as exceptions: what `work` throws becomes a thrown NativeError.
template <typename Work> void constructing(Napi::Env env, Work && work) {
    const auto status = catch_status(work);
    if (!status.code.empty()) throw Napi::Error(env, make_error(env, status));
}

// Whether make_error() made it.
inline bool is_native_error(const Napi::Error & error) {
    const auto name = error.Value().Get("name");
    return name.IsString() && name.As<Napi::String>().Utf8Value() == "NativeError";
}

// Wraps a JS-facing method: a StatusError becomes the thrown NativeError.
template <typename Work> Napi::Value guarded(Napi::Env env, Work && work) {
    Napi::Value result = env.Undefined();
    Napi::Value refusal;  // of a constructor that `work` called
    auto status = catch_status([&] {
        try {
            result = work();
        } catch (const Napi::Error & error) {
            if (!is_native_error(error)) throw StatusError("invalid_argument", "an argument has the wrong type");
            refusal = error.Value();
        }
    });
    if (!status.code.empty()) refusal = make_error(env, status);
    if (refusal.IsEmpty()) return result;
    napi_throw(env, refusal);
    return {};
}

}  // namespace svc
