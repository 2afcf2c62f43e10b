// Model loads in flight: progress to JS, and a way to abort them.
#pragma once

#include "../../common/napi_setup.h"

namespace svc {

// startLoad(options, onProgress) -> {model: Promise<Model>, abort()}: after abort() the promise rejects with load_aborted.
Napi::Value start_load(const Napi::CallbackInfo & info);

}  // namespace svc
