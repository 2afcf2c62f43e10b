// JS class Synthesizer.
#pragma once

#include <memory>

#include "../../common/napi_setup.h"
#include "../speech/synthesizer.h"

namespace svc {

class SynthesizerObject : public Napi::ObjectWrap<SynthesizerObject> {
  public:
    static void define(Napi::Env env);
    static Napi::Object wrap(Napi::Env env, std::shared_ptr<Synthesizer> synthesizer);
    explicit SynthesizerObject(const Napi::CallbackInfo & info);
    void Finalize(Napi::Env env) override;

  private:
    Napi::Value limits(const Napi::CallbackInfo & info);
    Napi::Value sample_rate(const Napi::CallbackInfo & info);
    Napi::Value n_waiting(const Napi::CallbackInfo & info);
    Napi::Value start(const Napi::CallbackInfo & info);
    Napi::Value close(const Napi::CallbackInfo & info);

    std::shared_ptr<Synthesizer> synthesizer_;
};

}  // namespace svc
