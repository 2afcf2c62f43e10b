#include "transcriber_object.h"

#include "../../common/env_state.h"
#include "../../common/js_callback.h"
#include "../../common/memory_wait.h"
#include "../../common/option_reader.h"
#include "../../common/promise_thread.h"
#include "../../common/type_tags.h"

namespace svc {

namespace {

// A prompt of more is cut to the model's context anyway, and upstream's tokenizer takes its time.
constexpr size_t kMostPromptBytes = 4096;

template <typename Values> Napi::Value numbers_of(Napi::Env env, const Values & values) {
    auto list = Napi::Array::New(env, values.size());
    for (uint32_t i = 0; i < values.size(); i++) list.Set(i, Napi::Number::New(env, static_cast<double>(values[i])));
    return list;
}

Napi::Object word_object(Napi::Env env, const SpeechWord & word) {
    auto to = Napi::Object::New(env);
    to.Set("text", word.text);
    to.Set("begin", word.begin);
    to.Set("end", word.end);
    to.Set("probability", word.probability);
    return to;
}

Napi::Object segment_object(Napi::Env env, const SpeechSegment & segment) {
    auto to = Napi::Object::New(env);
    to.Set("text", segment.text);
    to.Set("begin", segment.begin);
    to.Set("end", segment.end);
    to.Set("avgLogprob", segment.avg_logprob);
    to.Set("noSpeechProb", segment.no_speech_prob);
    to.Set("tokens", numbers_of(env, segment.tokens));
    to.Set("logprobs", numbers_of(env, segment.logprobs));
    auto texts = Napi::Array::New(env, segment.texts.size());
    for (uint32_t i = 0; i < segment.texts.size(); i++)
        texts.Set(i, Napi::Buffer<char>::Copy(env, segment.texts[i].data(), segment.texts[i].size()));
    to.Set("texts", texts);
    auto words = Napi::Array::New(env, segment.words.size());
    for (uint32_t i = 0; i < segment.words.size(); i++) words.Set(i, word_object(env, segment.words[i]));
    to.Set("words", words);
    to.Set("endsTurn", segment.ends_turn);
    return to;
}

Napi::Object event_object(Napi::Env env, const TranscriptionEvent & event) {
    auto to = Napi::Object::New(env);
    auto segments = Napi::Array::New(env, event.segments.size());
    for (uint32_t i = 0; i < event.segments.size(); i++) segments.Set(i, segment_object(env, event.segments[i]));
    to.Set("segments", segments);
    to.Set("doneSeconds", event.done_seconds);
    to.Set("speechSeconds", event.speech_seconds);
    to.Set("duration", event.duration);
    to.Set("language", event.language);
    to.Set("wantsSamples", event.wants_samples);
    to.Set("isLast", event.is_last);
    if (!event.status.code.empty()) to.Set("error", make_error(env, event.status));
    return to;
}

TranscriptionOptions options_of(const Napi::Value & value) {
    if (!value.IsObject()) OptionReader::refuse("options", "an object");
    const auto object = value.As<Napi::Object>();
    const OptionReader reader(object);
    TranscriptionOptions options;
    reader.string("tenant", options.tenant);
    reader.string("language", options.decode.language);
    reader.boolean("translates", options.decode.translates);
    reader.string("prompt", options.decode.prompt);
    if (options.decode.prompt.size() > kMostPromptBytes) OptionReader::refuse("prompt", "at most 4096 bytes");
    reader.number("temperature", options.decode.temperature, 0, 1);
    reader.boolean("hasWords", options.decode.has_words);
    reader.boolean("tellsTurns", options.decode.tells_turns);
    reader.boolean("skipsSilence", options.skips_silence);
    reader.boolean("isBackground", options.is_background);
    reader.integer("timeoutMs", options.timeout_ms, 0, 1e12);
    return options;
}

const Napi::Float32Array samples_of(const Napi::Value & value) {
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array)
        OptionReader::refuse("samples", "a Float32Array");
    return value.As<Napi::Float32Array>();
}

// {write, end, cancel}: what JS holds of a recording. It keeps the model in memory.
Napi::Object job_object(Napi::Env env, const std::shared_ptr<Transcriber> & transcriber,
                        const std::shared_ptr<Transcription> & job) {
    auto to = Napi::Object::New(env);
    const auto method = [&](const char * name, auto work) {
        to.Set(name, Napi::Function::New(env, [transcriber, job, work](const Napi::CallbackInfo & info) {
                   return guarded(info.Env(), [&] { return work(info, *transcriber, job); });
               }));
    };
    using Info = const Napi::CallbackInfo &;
    using Job = const std::shared_ptr<Transcription> &;
    method("write", [](Info info, Transcriber & by, Job of) -> Napi::Value {
        const auto samples = samples_of(info[0]);
        return Napi::Boolean::New(info.Env(), by.write(of, samples.Data(), samples.ElementLength()));
    });
    method("end", [](Info info, Transcriber & by, Job of) -> Napi::Value {
        by.end(of);
        return info.Env().Undefined();
    });
    method("cancel", [](Info info, Transcriber & by, Job of) -> Napi::Value {
        by.cancel(of);
        return info.Env().Undefined();
    });
    return to;
}

}  // namespace

void TranscriberObject::define(Napi::Env env) {
    auto constructor = DefineClass(env, "Transcriber",
                                   {
                                       InstanceMethod("start", &TranscriberObject::start),
                                       InstanceMethod("stats", &TranscriberObject::stats),
                                       InstanceMethod("isMultilingual", &TranscriberObject::is_multilingual),
                                       InstanceMethod("close", &TranscriberObject::close),
                                   });
    EnvState::of(env).constructors["Transcriber"] = Napi::Persistent(constructor);
}

Napi::Value TranscriberObject::load(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        if (!info[0].IsObject()) OptionReader::refuse("options", "an object");
        const auto object = info[0].As<Napi::Object>();
        const OptionReader reader(object);
        std::string path;
        std::string voice_path;
        Transcriber::Options options{1, 1, 1};
        reader.string("path", path);
        reader.string("voicePath", voice_path);
        reader.integer("nStates", options.n_states, 1, 64);
        reader.integer("nThreads", options.n_threads, 1, 512);
        reader.integer("nMostJobs", options.n_most_jobs, 1, 1e6);
        return PromiseThread<std::shared_ptr<Transcriber>>::start(
            info.Env(),
            [=] { return std::make_shared<Transcriber>(SpeechModel::load(path), VoiceWeights::load(voice_path), options); },
            [](Napi::Env e, std::shared_ptr<Transcriber> & transcriber) -> Napi::Value {
                return EnvState::of(e).constructors.at("Transcriber").New({tagged(e, &transcriber, kTranscriberTag)});
            });
    });
}

TranscriberObject::TranscriberObject(const Napi::CallbackInfo & info) : Napi::ObjectWrap<TranscriberObject>(info) {
    transcriber_ = untagged<std::shared_ptr<Transcriber>>(info[0], kTranscriberTag, "transcribers come from loadModel()");
    Value().TypeTag(&kTranscriberTag);
    constructing(info.Env(), [&] {
        EnvState::of(info.Env()).closers[transcriber_.get()] = [transcriber = transcriber_] { transcriber->close(); };
    });
}

void TranscriberObject::Finalize(Napi::Env env) { EnvState::of(env).closers.erase(transcriber_.get()); }

// start(options, onEvent): {write, end, cancel}.
Napi::Value TranscriberObject::start(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        if (!info[1].IsFunction()) OptionReader::refuse("onEvent", "a function");
        auto options = options_of(info[0]);
        const auto function = info[1].As<Napi::Function>();
        auto back = JsCallback::create(info.Env(), function, "svc.transcribe");
        try {
            const auto job = transcriber_->start(std::move(options), [back](const TranscriptionEvent & event) {
                const MemoryWait wait;
                back->call([event](Napi::Env e, Napi::Function call) { call.Call({event_object(e, event)}); });
                if (event.is_last) back->release();
            });
            return job_object(info.Env(), transcriber_, job);
        } catch (...) {
            back->release();
            throw;
        }
    });
}

Napi::Value TranscriberObject::stats(const Napi::CallbackInfo & info) {
    const auto stats = transcriber_->stats();
    auto to = Napi::Object::New(info.Env());
    to.Set("nJobs", stats.n_jobs);
    to.Set("nWaiting", stats.n_waiting);
    to.Set("longestSliceMs", stats.longest_slice_ms);
    return to;
}

Napi::Value TranscriberObject::is_multilingual(const Napi::CallbackInfo & info) {
    return Napi::Boolean::New(info.Env(), transcriber_->is_multilingual());
}

Napi::Value TranscriberObject::close(const Napi::CallbackInfo & info) {
    const MemoryWait wait;
    return PromiseThread<bool>::start(
        info.Env(),
        [transcriber = transcriber_] {
            transcriber->close();
            return true;
        },
        [transcriber = transcriber_](Napi::Env e, bool &) {
            EnvState::of(e).closers.erase(transcriber.get());
            return e.Undefined();
        });
}

}  // namespace svc
