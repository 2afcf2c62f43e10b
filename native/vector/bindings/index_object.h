// JS class Index: every method copies what it is given. Those whose name ends in Now work at once; the others answer with a
// promise and work on libuv's threads.
#pragma once

#include <memory>

#include "../../common/napi_setup.h"
#include "../index/vector_index.h"

namespace svc {

class IndexObject : public Napi::ObjectWrap<IndexObject> {
  public:
    static void define(Napi::Env env);
    static Napi::Object wrap(Napi::Env env, std::shared_ptr<VectorIndex> index);
    explicit IndexObject(const Napi::CallbackInfo & info);
    void Finalize(Napi::Env env) override;

  private:
    Napi::Value add_now(const Napi::CallbackInfo & info);
    Napi::Value remove_now(const Napi::CallbackInfo & info);
    Napi::Value search_now(const Napi::CallbackInfo & info);
    Napi::Value similarity(const Napi::CallbackInfo & info);
    Napi::Value keys(const Napi::CallbackInfo & info);
    Napi::Value stats(const Napi::CallbackInfo & info);
    Napi::Value add(const Napi::CallbackInfo & info);
    Napi::Value remove(const Napi::CallbackInfo & info);
    Napi::Value search(const Napi::CallbackInfo & info);
    Napi::Value link(const Napi::CallbackInfo & info);
    Napi::Value compact(const Napi::CallbackInfo & info);
    Napi::Value save(const Napi::CallbackInfo & info);
    Napi::Value close(const Napi::CallbackInfo & info);

    std::shared_ptr<VectorIndex> index_;
};

// createIndex(options) and openIndex(path, options, isViewed), whose index comes as a promise.
Napi::Value create_index(const Napi::CallbackInfo & info);
Napi::Value open_index(const Napi::CallbackInfo & info);

}  // namespace svc
