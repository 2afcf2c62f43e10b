// Tags of the objects that cross the boundary. JS may give any object any prototype, so `instanceof` proves nothing about what an
// object wraps; a tag is set once, by the constructor, and cannot be forged.
#pragma once

#include "napi_setup.h"
#include "status.h"

namespace svc {

constexpr napi_type_tag kStagedBytesTag{0x9d3c1f0a57b24e61, 0x8a40c6d2e17f3b95};
constexpr napi_type_tag kModelTag{0x2f6b8d41c09e4a37, 0xb15d7e80429cf6a3};
constexpr napi_type_tag kEngineTag{0x71e4a95c3d084fb2, 0x9c02b7f5683e1da4};
constexpr napi_type_tag kEmbedderTag{0xc58f02e7ab314d96, 0x8e73146fd9a0b25c};
constexpr napi_type_tag kSynthesizerTag{0x3e90d5c7128b4f6d, 0xd27a4c918f03b65e};
constexpr napi_type_tag kTranscriberTag{0x6b1f93d4e2704ac8, 0x95e03c7ab84d162f};
constexpr napi_type_tag kIndexTag{0x40d7b36e915c4f28, 0xa6f90c2de8471b53};

inline bool has_tag(const Napi::Value & value, const napi_type_tag & tag) {
    if (value.IsExternal()) return value.As<Napi::External<void>>().CheckTypeTag(&tag);
    return value.IsObject() && value.As<Napi::Object>().CheckTypeTag(&tag);
}

// What a constructor that JS must not call by itself is given: a pointer that is valid during the call.
template <typename T> Napi::External<T> tagged(Napi::Env env, T * value, const napi_type_tag & tag) {
    auto external = Napi::External<T>::New(env, value);
    external.TypeTag(&tag);
    return external;
}

// The pointer that tagged() wrapped. Throws Napi::TypeError with `origin`, which says where such objects come from.
template <typename T> T & untagged(const Napi::Value & value, const napi_type_tag & tag, const char * origin) {
    if (!value.IsExternal() || !has_tag(value, tag)) throw Napi::TypeError::New(value.Env(), origin);
    return *value.As<Napi::External<T>>().Data();
}

}  // namespace svc
