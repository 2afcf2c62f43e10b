// JS class Transcriber: a speech model in memory, and the recordings that it turns into text.
#pragma once

#include <memory>

#include "../../common/napi_setup.h"
#include "../jobs/transcriber.h"

namespace svc {

class TranscriberObject : public Napi::ObjectWrap<TranscriberObject> {
  public:
    static void define(Napi::Env env);
    // loadModel({path, voicePath, nStates, nThreads, nMostJobs}): a promise of one.
    static Napi::Value load(const Napi::CallbackInfo & info);

    explicit TranscriberObject(const Napi::CallbackInfo & info);
    void Finalize(Napi::Env env) override;

  private:
    Napi::Value start(const Napi::CallbackInfo & info);
    Napi::Value stats(const Napi::CallbackInfo & info);
    Napi::Value is_multilingual(const Napi::CallbackInfo & info);
    Napi::Value close(const Napi::CallbackInfo & info);

    std::shared_ptr<Transcriber> transcriber_;
};

}  // namespace svc
