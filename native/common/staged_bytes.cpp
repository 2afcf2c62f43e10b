#include "staged_bytes.h"

#include "env_state.h"
#include "status.h"
#include "type_tags.h"

namespace svc {

namespace {

constexpr double kMostBytes = 1u << 31;

bool is_uint8_array(const Napi::Value & value) {
    return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array;
}

}  // namespace

void StagedBytes::define(Napi::Env env, Napi::Object exports) {
    auto constructor = DefineClass(env, "StagedBytes", {InstanceMethod("append", &StagedBytes::append)});
    EnvState::of(env).constructors["StagedBytes"] = Napi::Persistent(constructor);
    exports.Set("StagedBytes", constructor);
}

bool StagedBytes::is(const Napi::Value & value) { return !value.IsExternal() && has_tag(value, kStagedBytesTag); }

std::string StagedBytes::take(const Napi::Value & value, const char * name) {
    if (value.IsString()) return value.As<Napi::String>().Utf8Value();
    if (is_uint8_array(value)) {
        auto array = value.As<Napi::Uint8Array>();
        return {reinterpret_cast<const char *>(array.Data()), array.ByteLength()};
    }
    if (!is(value)) throw StatusError("invalid_argument", "'" + std::string(name) + "' must be a string or bytes");
    auto & staged = *Unwrap(value.As<Napi::Object>());
    if (staged.n_missing_ > 0)
        throw StatusError("invalid_argument", "'" + std::string(name) + "' lacks bytes that were announced");
    return std::move(staged.bytes_);
}

// StagedBytes(sizeBytes)
StagedBytes::StagedBytes(const Napi::CallbackInfo & info) : Napi::ObjectWrap<StagedBytes>(info) {
    const double size = info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
    if (!(size >= 0 && size <= kMostBytes)) throw Napi::TypeError::New(info.Env(), "StagedBytes takes a size in bytes");
    n_missing_ = static_cast<size_t>(size);
    constructing(info.Env(), [this] { bytes_.reserve(n_missing_); });
    Value().TypeTag(&kStagedBytesTag);
}

Napi::Value StagedBytes::append(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        if (!is_uint8_array(info[0])) throw StatusError("invalid_argument", "append takes a Uint8Array");
        auto array = info[0].As<Napi::Uint8Array>();
        if (array.ByteLength() > n_missing_) throw StatusError("invalid_argument", "these are more bytes than were announced");
        bytes_.append(reinterpret_cast<const char *>(array.Data()), array.ByteLength());
        n_missing_ -= array.ByteLength();
        return info.Env().Undefined();
    });
}

}  // namespace svc
