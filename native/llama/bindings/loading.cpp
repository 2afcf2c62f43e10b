#include "loading.h"

#include <atomic>
#include <map>
#include <mutex>

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

std::mutex loads_mutex;
std::map<uint32_t, std::weak_ptr<Load>> loads;
uint32_t next_load = 1;

uint32_t remember(const std::shared_ptr<Load> & load) {
    std::lock_guard lock(loads_mutex);
    for (auto it = loads.begin(); it != loads.end();) it = it->second.expired() ? loads.erase(it) : std::next(it);
    loads[next_load] = load;
    return next_load++;
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
        to.Set("id", remember(load));
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

Napi::Value abort_load(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        if (!info[0].IsNumber()) throw StatusError("invalid_argument", "a load id must be a number");
        std::lock_guard lock(loads_mutex);
        auto found = loads.find(info[0].As<Napi::Number>().Uint32Value());
        if (found == loads.end()) return info.Env().Undefined();
        if (auto load = found->second.lock()) load->aborted = true;
        return info.Env().Undefined();
    });
}

}  // namespace svc
