// What the addon gives to JS; the typed door is ts/server/native/vector.ts.
#include <cstring>

#include "../../common/env_state.h"
#include "../../common/option_reader.h"
#include "../kernels/kernels.h"
#include "../kernels/unit_vectors.h"
#include "index_object.h"
#include "index_values.h"

namespace svc {

namespace {

// {name, product, rowProduct, floatProduct, byteProduct, planeSum}: of a vector with a stored one, of two stored ones, and of
// the latter made floats again; and by the codes that each kernel compares.
Napi::Object compared(Napi::Env env, const Kernels & kernel, const UnitVectors & query, const UnitVectors & stored,
                      size_t stride) {
    std::vector<uint16_t> one(stride);
    std::vector<uint16_t> other(stride);
    std::vector<float> back(stride);
    kernel.to_half(query.at(0), one.data(), stride);
    kernel.to_half(stored.at(0), other.data(), stride);
    kernel.to_float(one.data(), back.data(), stride);
    std::vector<int8_t> bytes[2];
    for (const auto * half : {&one, &other}) {
        auto & list = bytes[half == &other];
        kernel.to_float(half->data(), back.data(), stride);
        for (const auto number : back) list.push_back(static_cast<int8_t>(number * 127));
    }
    kernel.to_float(one.data(), back.data(), stride);
    // Whatever bits: of the halves of one, beside planes of the other's.
    const size_t words = stride / (kPlanes * sizeof(uint64_t) / sizeof(uint16_t));
    std::vector<uint64_t> planes(kPlanes * words);
    std::memcpy(planes.data(), other.data(), planes.size() * sizeof(uint64_t));
    auto to = Napi::Object::New(env);
    to.Set("name", kernel.name);
    to.Set("product", kernel.product(query.at(0), other.data(), stride));
    to.Set("rowProduct", kernel.row_product(one.data(), other.data(), stride));
    to.Set("byteProduct", kernel.byte_product(bytes[0].data(), bytes[1].data(), stride));
    to.Set("planeSum", kernel.plane_sum(reinterpret_cast<const uint8_t *>(one.data()), planes.data(), words));
    to.Set("floatProduct", kernel.product(back.data(), other.data(), stride));
    return to;
}

// initialise(folder, errorFactory): once for each environment, before anything else.
Napi::Value initialise(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        if (!info[1].IsFunction()) throw StatusError("invalid_argument", "initialise takes a folder and an error factory");
        EnvState::of(env).error_factory = Napi::Persistent(info[1].As<Napi::Function>());
        return env.Undefined();
    });
}

// compareKernels(one, other): the cosine of two vectors by each kernel that this CPU can run, the one in use first.
Napi::Value compare_kernels(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        const auto one = numbers_of(info[0], 1);
        const auto other = numbers_of(info[1], 1);
        const auto dims = static_cast<uint32_t>(one.size());
        if (dims == 0 || dims > kMostDims || other.size() != dims) OptionReader::refuse("vectors", "two of the same dimensions");
        const UnitVectors query(one.data(), 1, dims);
        const UnitVectors stored(other.data(), 1, dims);
        auto list = Napi::Array::New(env);
        for (const auto * kernel : usable_kernels())
            list.Set(list.Length(), compared(env, *kernel, query, stored, stride_of(dims)));
        return list;
    });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
    env.SetInstanceData(new EnvState());
    IndexObject::define(env);
    exports.Set("initialise", Napi::Function::New(env, initialise));
    exports.Set("createIndex", Napi::Function::New(env, create_index));
    exports.Set("openIndex", Napi::Function::New(env, open_index));
    exports.Set("compareKernels", Napi::Function::New(env, compare_kernels));
    return exports;
}

}  // namespace

}  // namespace svc

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) { return svc::init(env, exports); }

NODE_API_MODULE(svc_vector, init_addon)
