// What the addon gives to JS; the typed door is ts/server/native/llama.ts.
#include "../../common/env_state.h"
#include "../../common/freed_heap.h"
#include "../../common/staged_bytes.h"
#include "../../common/status.h"
#include "../model/backend.h"
#include "../model/device.h"
#include "../model/device_fault.h"
#include "embedder_object.h"
#include "engine_object.h"
#include "ggml-backend.h"
#include "ggml.h"
#include "loading.h"
#include "model_object.h"
#include "synthesizer_object.h"

namespace svc {

namespace {

const char * kind_name(ggml_backend_dev_t device) {
    if (is_gpu(device)) return "gpu";
    return ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU ? "cpu" : "accelerator";
}

Napi::Object device_object(Napi::Env env, ggml_backend_dev_t device) {
    size_t free = 0;
    size_t total = 0;
    // The driver of a lost GPU refuses this call too, for which ggml would end the process.
    const DeviceFaultScope scope;
    if (!is_gpu(device) || !is_device_lost()) catch_status([&] { ggml_backend_dev_memory(device, &free, &total); });
    auto to = Napi::Object::New(env);
    to.Set("name", ggml_backend_dev_name(device));
    to.Set("description", ggml_backend_dev_description(device));
    to.Set("kind", kind_name(device));
    to.Set("memoryBytes", static_cast<double>(total));
    to.Set("freeBytes", static_cast<double>(free));
    return to;
}

// Names of the features that the loaded CPU backend was built for, as it reports them.
Napi::Array cpu_features(Napi::Env env) {
    auto to = Napi::Array::New(env);
    auto * device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (!device) return to;
    auto * registry = ggml_backend_dev_backend_reg(device);
    auto get =
        reinterpret_cast<ggml_backend_get_features_t>(ggml_backend_reg_get_proc_address(registry, "ggml_backend_get_features"));
    for (auto * feature = get ? get(registry) : nullptr; feature && feature->name; feature++) {
        if (std::string(feature->value) == "1") to.Set(to.Length(), feature->name);
    }
    return to;
}

Napi::Array unused_libraries(Napi::Env env) {
    auto to = Napi::Array::New(env);
    for (const auto & [file, reason] : unused_backends()) {
        auto entry = Napi::Object::New(env);
        entry.Set("file", file);
        entry.Set("reason", reason);
        to.Set(to.Length(), entry);
    }
    return to;
}

Napi::Object cuda_object(Napi::Env env) {
    const auto versions = cuda_versions();
    auto to = Napi::Object::New(env);
    to.Set("driver", versions.driver);
    to.Set("toolkit", versions.toolkit);
    to.Set("fault", last_device_fault());
    to.Set("isLost", is_device_lost());
    return to;
}

Napi::Value system_info(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    auto devices = Napi::Array::New(env);
    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        devices.Set(static_cast<uint32_t>(i), device_object(env, ggml_backend_dev_get(i)));
    auto to = Napi::Object::New(env);
    to.Set("llamaVersion", llama_version());
    to.Set("ggmlVersion", ggml_version());
    to.Set("devices", devices);
    to.Set("cpuFeatures", cpu_features(env));
    to.Set("unusedBackends", unused_libraries(env));
    to.Set("cuda", cuda_object(env));
    return to;
}

// initialise(folder, errorFactory): once for each environment, before anything else.
Napi::Value initialise(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        if (!info[0].IsString() || !info[1].IsFunction())
            throw StatusError("invalid_argument", "initialise takes a folder and an error factory");
        EnvState::of(env).error_factory = Napi::Persistent(info[1].As<Napi::Function>());
        bound_freed_heap();
        load_backends(info[0].As<Napi::String>().Utf8Value());
        return env.Undefined();
    });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
    env.SetInstanceData(new EnvState());
    StagedBytes::define(env, exports);
    ModelObject::define(env);
    EngineObject::define(env);
    EmbedderObject::define(env);
    SynthesizerObject::define(env);
    exports.Set("initialise", Napi::Function::New(env, initialise));
    exports.Set("systemInfo", Napi::Function::New(env, system_info));
    exports.Set("startLoad", Napi::Function::New(env, start_load));
    return exports;
}

}  // namespace

}  // namespace svc

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) { return svc::init(env, exports); }

NODE_API_MODULE(svc_llama, init_addon)
