// JS class Embedder.
#pragma once

#include <memory>

#include "../../common/napi_setup.h"
#include "../embed/embedder.h"

namespace svc {

class EmbedderObject : public Napi::ObjectWrap<EmbedderObject> {
  public:
    static void define(Napi::Env env);
    static Napi::Object wrap(Napi::Env env, std::shared_ptr<Embedder> embedder);
    explicit EmbedderObject(const Napi::CallbackInfo & info);
    void Finalize(Napi::Env env) override;

  private:
    Napi::Value limits(const Napi::CallbackInfo & info);
    Napi::Value stats(const Napi::CallbackInfo & info);
    Napi::Value embed(const Napi::CallbackInfo & info);
    Napi::Value rank(const Napi::CallbackInfo & info);
    Napi::Value close(const Napi::CallbackInfo & info);

    std::shared_ptr<Embedder> embedder_;
};

}  // namespace svc
