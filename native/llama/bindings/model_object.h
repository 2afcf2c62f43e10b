// JS class Model.
#pragma once

#include <memory>

#include "../../common/napi_setup.h"
#include "../model/model.h"

namespace svc {

class ModelObject : public Napi::ObjectWrap<ModelObject> {
  public:
    static void define(Napi::Env env);
    static Napi::Object wrap(Napi::Env env, std::shared_ptr<Model> model);
    explicit ModelObject(const Napi::CallbackInfo & info);
    // Throws StatusError closed.
    const std::shared_ptr<Model> & model() const;

  private:
    Napi::Value info(const Napi::CallbackInfo & info);
    Napi::Value tokenize(const Napi::CallbackInfo & info);
    Napi::Value detokenize(const Napi::CallbackInfo & info);
    Napi::Value render_chat(const Napi::CallbackInfo & info);
    Napi::Value count_tokens(const Napi::CallbackInfo & info);
    Napi::Value create_engine(const Napi::CallbackInfo & info);
    Napi::Value create_embedder(const Napi::CallbackInfo & info);
    Napi::Value create_synthesizer(const Napi::CallbackInfo & info);
    Napi::Value plan_memory(const Napi::CallbackInfo & info);
    Napi::Value close(const Napi::CallbackInfo & info);
    std::shared_ptr<Model> model_;
};

}  // namespace svc
