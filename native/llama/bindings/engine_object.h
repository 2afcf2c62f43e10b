// JS class Engine.
#pragma once

#include <memory>

#include "../../common/napi_setup.h"
#include "../../common/step_channel.h"
#include "../engine/engine.h"

namespace svc {

Napi::Object memory_object(Napi::Env env, const MemoryUse & use);
Napi::Object limits_object(Napi::Env env, const EngineLimits & limits);

class EngineObject : public Napi::ObjectWrap<EngineObject> {
  public:
    static void define(Napi::Env env);
    static Napi::Object wrap(Napi::Env env, std::shared_ptr<Engine> engine, Napi::Function on_step);
    explicit EngineObject(const Napi::CallbackInfo & info);
    void Finalize(Napi::Env env) override;

  private:
    Napi::Value limits(const Napi::CallbackInfo & info);
    Napi::Value stats(const Napi::CallbackInfo & info);
    Napi::Value submit(const Napi::CallbackInfo & info);
    Napi::Value cancel(const Napi::CallbackInfo & info);
    Napi::Value pause(const Napi::CallbackInfo & info);
    Napi::Value resume(const Napi::CallbackInfo & info);
    Napi::Value close(const Napi::CallbackInfo & info);
    void start(Napi::Env env);
    void set_paused(const Napi::CallbackInfo & info, bool paused);

    // The channel must outlive the engine's threads, and both outlive this object while close() runs.
    struct Running {
        std::shared_ptr<Engine> engine;
        std::unique_ptr<StepChannel> channel;
        // JS thread: joins the engine, then ends delivery.
        void end();
    };
    std::shared_ptr<Running> running_;
};

}  // namespace svc
