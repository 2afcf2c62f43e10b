// What the addon gives to JS; the typed door is ts/server/native/whisper.ts.
#include <algorithm>

#include "../../common/env_state.h"
#include "../../common/option_reader.h"
#include "../voice/voice_network.h"
#include "ggml-backend.h"
#include "transcriber_object.h"
#include "whisper.h"

namespace svc {

namespace {

// initialise(folder, errorFactory): once for each environment, behind the addon llama, which loads ggml's backends for both.
Napi::Value initialise(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        if (!info[1].IsFunction()) throw StatusError("invalid_argument", "initialise takes a folder and an error factory");
        EnvState::of(env).error_factory = Napi::Persistent(info[1].As<Napi::Function>());
        if (ggml_backend_reg_count() == 0)
            throw StatusError("invalid_argument", "the addon llama must be loaded before this one");
        return env.Undefined();
    });
}

// languages(): {code, name} of all.
Napi::Value languages(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        auto list = Napi::Array::New(env);
        for (int id = 0; id <= whisper_lang_max_id(); id++) {
            auto language = Napi::Object::New(env);
            language.Set("code", whisper_lang_str(id));
            language.Set("name", whisper_lang_str_full(id));
            list.Set(list.Length(), language);
        }
        return list;
    });
}

// voiceProbabilities(path, samples): of speech, in each frame of 512 samples.
Napi::Value voice_probabilities(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        if (!info[0].IsString() || !info[1].IsTypedArray() ||
            info[1].As<Napi::TypedArray>().TypedArrayType() != napi_float32_array)
            throw StatusError("invalid_argument", "voiceProbabilities takes a path and a Float32Array");
        VoiceNetwork network(VoiceWeights::load(info[0].As<Napi::String>().Utf8Value()));
        const auto samples = info[1].As<Napi::Float32Array>();
        auto found = Napi::Float32Array::New(env, samples.ElementLength() / kFrame);
        for (size_t i = 0; i < found.ElementLength(); i++) found[i] = network.listen(samples.Data() + i * kFrame);
        return found;
    });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
    env.SetInstanceData(new EnvState());
    TranscriberObject::define(env);
    exports.Set("initialise", Napi::Function::New(env, initialise));
    exports.Set("languages", Napi::Function::New(env, languages));
    exports.Set("voiceProbabilities", Napi::Function::New(env, voice_probabilities));
    exports.Set("loadModel", Napi::Function::New(env, TranscriberObject::load));
    return exports;
}

}  // namespace

}  // namespace svc

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) { return svc::init(env, exports); }

NODE_API_MODULE(svc_whisper, init_addon)
