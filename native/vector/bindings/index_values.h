// What JS hands to an index, copied and checked: typed arrays may change as soon as the call returns. All throw StatusError
// invalid_argument.
#pragma once

#include <vector>

#include "../../common/napi_setup.h"
#include "../index/vector_index.h"

namespace svc {

// {dimensions, label?, connectivity?, expansionAdd?, expansionSearch?, exactBelow?}
IndexOptions index_options(const Napi::Value & value);
// A Float64Array or a BigUint64Array of safe integers.
std::vector<uint64_t> keys_of(const Napi::Value & value);
// A Float32Array of whole vectors. The numbers are looked at where the vectors are made of them.
std::vector<float> numbers_of(const Napi::Value & value, uint32_t dims);
// A Uint32Array has a bit for each key; an array of keys lists them; undefined allows all.
AllowedKeys allowed_of(const Napi::Value & value);
uint32_t k_of(const Napi::Value & value);

}  // namespace svc
