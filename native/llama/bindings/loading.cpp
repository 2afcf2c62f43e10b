#include "loading.h"

#include <atomic>
#include <memory>

#include "../../common/env_state.h"
#include "../../common/js_callback.h"
#include "../../common/promise_thread.h"
#include "model_object.h"

namespace svc {

namespace {

struct Load {
    std::atomic<bool> aborted{false};
    float reported = -1;
    std::shared_ptr<JsCallback> progress;

    // Loading thread. Tells JS about each further percent; one for which there is no memory is left out.
    bool on_progress(float fraction) noexcept {
        if (fraction >= reported + 0.01f || fraction >= 1.0f) {
            reported = fraction;
            catch_status([&] {
                progress->call(
                    [fraction](Napi::Env env, Napi::Function callback) { callback.Call({Napi::Number::New(env, fraction)}); });
            });
        }
        return !aborted;
    }
};

Napi::Function abort_function(Napi::Env env, const std::shared_ptr<Load> & load) {
    return Napi::Function::New(env, [weak = std::weak_ptr(load)](const Napi::CallbackInfo &) {
        if (const auto held = weak.lock()) held->aborted = true;
    });
}

Napi::Promise start(Napi::Env env, const LoadOptions & options, const std::shared_ptr<Load> & load) {
    return PromiseThread<std::shared_ptr<Model>>::start(
        env,
        [options, load] {
            struct Release {
                Load & load;
                ~Release() { load.progress->release(); }
            } release{*load};
            return Model::load(options, [&](float fraction) { return load->on_progress(fraction); });
        },
        [](Napi::Env e, std::shared_ptr<Model> & model) -> Napi::Value { return ModelObject::wrap(e, model); });
}

}  // namespace

Napi::Value start_load(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        if (!info[0].IsObject() || !info[1].IsFunction())
            throw StatusError("invalid_argument", "startLoad takes options and a progress callback");
        auto options = load_options(info[0].As<Napi::Object>());
        auto load = std::make_shared<Load>();
        auto to = Napi::Object::New(env);
        to.Set("abort", abort_function(env, load));
        load->progress = JsCallback::create(env, info[1].As<Napi::Function>(), "svc.load");
        try {
            to.Set("model", start(env, options, load));
        } catch (...) {
            load->progress->release();
            throw;
        }
        return to;
    });
}

}  // namespace svc
