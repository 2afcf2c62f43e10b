#include "synthesizer_object.h"

#include <algorithm>
#include <cmath>

#include "../../common/env_state.h"
#include "../../common/js_callback.h"
#include "../../common/memory_wait.h"
#include "../../common/option_reader.h"
#include "../../common/promise_thread.h"
#include "../../common/type_tags.h"
#include "engine_object.h"

namespace svc {

namespace {

// A minute at any rate that there is; the synthesizer knows its own.
constexpr size_t kMostVoiceSamples = 60 * 48000;

std::vector<float> voice_of(const Napi::Object & from) {
    const auto value = from.Get("voice");
    if (value.IsUndefined() || value.IsNull()) return {};
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array)
        OptionReader::refuse("voice", "a Float32Array");
    const auto samples = value.As<Napi::Float32Array>();
    if (samples.ElementLength() > kMostVoiceSamples) OptionReader::refuse("voice", "at most a minute");
    return {samples.Data(), samples.Data() + samples.ElementLength()};
}

SpeechOptions options_of(const Napi::Value & value) {
    if (!value.IsObject()) OptionReader::refuse("options", "an object");
    const auto object = value.As<Napi::Object>();
    const OptionReader reader(object);
    SpeechOptions options;
    reader.string("tenant", options.tenant);
    reader.string("text", options.text);
    reader.string("language", options.language);
    options.voice = voice_of(object);
    // The library takes the largest for a random one.
    reader.integer("seed", options.seed, 0, UINT32_MAX - 1.0);
    reader.boolean("isBackground", options.is_background);
    reader.integer("timeoutMs", options.timeout_ms, 0, 1e12);
    return options;
}

// Weights of a damaged file give numbers that are none.
int16_t sample_of(float value) {
    return std::isnan(value) ? int16_t{0} : static_cast<int16_t>(std::lround(std::clamp(value, -1.0f, 1.0f) * 32767.0f));
}

Napi::Object event_object(Napi::Env env, const SpeechEvent & event) {
    auto to = Napi::Object::New(env);
    auto samples = Napi::Int16Array::New(env, event.samples.size());
    std::transform(event.samples.begin(), event.samples.end(), samples.Data(), sample_of);
    to.Set("samples", samples);
    to.Set("isLast", event.is_last);
    if (!event.status.code.empty()) to.Set("error", make_error(env, event.status));
    return to;
}

}  // namespace

void SynthesizerObject::define(Napi::Env env) {
    auto constructor = DefineClass(env, "Synthesizer",
                                   {
                                       InstanceMethod("limits", &SynthesizerObject::limits),
                                       InstanceMethod("sampleRate", &SynthesizerObject::sample_rate),
                                       InstanceMethod("nWaiting", &SynthesizerObject::n_waiting),
                                       InstanceMethod("start", &SynthesizerObject::start),
                                       InstanceMethod("close", &SynthesizerObject::close),
                                   });
    EnvState::of(env).constructors["Synthesizer"] = Napi::Persistent(constructor);
}

Napi::Object SynthesizerObject::wrap(Napi::Env env, std::shared_ptr<Synthesizer> synthesizer) {
    return EnvState::of(env).constructors.at("Synthesizer").New({tagged(env, &synthesizer, kSynthesizerTag)});
}

SynthesizerObject::SynthesizerObject(const Napi::CallbackInfo & info) : Napi::ObjectWrap<SynthesizerObject>(info) {
    synthesizer_ = untagged<std::shared_ptr<Synthesizer>>(info[0], kSynthesizerTag, "synthesizers come from createSynthesizer()");
    Value().TypeTag(&kSynthesizerTag);
    constructing(info.Env(), [&] {
        EnvState::of(info.Env()).closers[synthesizer_.get()] = [synthesizer = synthesizer_] { synthesizer->close(); };
    });
}

void SynthesizerObject::Finalize(Napi::Env env) { EnvState::of(env).closers.erase(synthesizer_.get()); }

Napi::Value SynthesizerObject::limits(const Napi::CallbackInfo & info) {
    return limits_object(info.Env(), synthesizer_->limits());
}

Napi::Value SynthesizerObject::sample_rate(const Napi::CallbackInfo & info) {
    return Napi::Number::New(info.Env(), synthesizer_->sample_rate());
}

Napi::Value SynthesizerObject::n_waiting(const Napi::CallbackInfo & info) {
    return Napi::Number::New(info.Env(), synthesizer_->n_waiting());
}

// start(options, onEvent): a function that cancels.
Napi::Value SynthesizerObject::start(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        if (!info[1].IsFunction()) OptionReader::refuse("onEvent", "a function");
        auto options = options_of(info[0]);
        auto back = JsCallback::create(info.Env(), info[1].As<Napi::Function>(), "svc.speak");
        try {
            const auto utterance = synthesizer_->start(std::move(options), [back](const SpeechEvent & event) {
                const MemoryWait wait;
                back->call([event](Napi::Env e, Napi::Function call) { call.Call({event_object(e, event)}); });
                if (event.is_last) back->release();
            });
            return Napi::Function::New(info.Env(), [synthesizer = synthesizer_, utterance](const Napi::CallbackInfo &) {
                synthesizer->cancel(utterance);
            });
        } catch (...) {
            back->release();
            throw;
        }
    });
}

Napi::Value SynthesizerObject::close(const Napi::CallbackInfo & info) {
    const MemoryWait wait;
    return PromiseThread<bool>::start(
        info.Env(),
        [synthesizer = synthesizer_] {
            synthesizer->close();
            return true;
        },
        [synthesizer = synthesizer_](Napi::Env e, bool &) {
            EnvState::of(e).closers.erase(synthesizer.get());
            return e.Undefined();
        });
}

}  // namespace svc
