// JS class StagedBytes: bytes that JS hands over in pieces, so that no single copy holds up its thread. Who takes them moves
// them.
#pragma once

#include <string>

#include "napi_setup.h"

namespace svc {

class StagedBytes : public Napi::ObjectWrap<StagedBytes> {
  public:
    static void define(Napi::Env env, Napi::Object exports);
    static bool is(const Napi::Value & value);
    // A string, a Uint8Array, or StagedBytes, which are empty afterwards. Throws StatusError that names the member.
    static std::string take(const Napi::Value & value, const char * name);
    explicit StagedBytes(const Napi::CallbackInfo & info);

  private:
    Napi::Value append(const Napi::CallbackInfo & info);

    std::string bytes_;
    size_t n_missing_ = 0;
};

}  // namespace svc
