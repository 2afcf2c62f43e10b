// How a model's file wants to be sampled where a request says nothing: its keys general.sampling.*.
#pragma once

#include "../options/options.h"

namespace svc {

class Model;

// llama.cpp's defaults, and over them what the file names. Values that no request may have are ignored.
SamplingOptions sampling_defaults(const Model & model);

}  // namespace svc
