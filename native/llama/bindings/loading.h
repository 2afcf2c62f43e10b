// Model loads in flight: progress to JS, and a way to abort them.
#pragma once

#include "../../common/napi_setup.h"

namespace svc {

// startLoad(options, onProgress) -> {id, model: Promise<Model>}
Napi::Value start_load(const Napi::CallbackInfo & info);
// abortLoad(id): the promise rejects with load_aborted. Unknown ids are ignored.
Napi::Value abort_load(const Napi::CallbackInfo & info);

}  // namespace svc
