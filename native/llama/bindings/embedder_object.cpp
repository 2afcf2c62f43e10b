#include "embedder_object.h"

#include "../../common/env_state.h"
#include "../../common/js_callback.h"
#include "../../common/option_reader.h"
#include "../../common/promise_thread.h"
#include "../../common/type_tags.h"
#include "engine_object.h"

namespace svc {

namespace {

constexpr uint32_t kMostInputs = 100000;

std::variant<std::string, std::vector<llama_token>> input_of(const Napi::Value & value) {
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array)
        return StagedBytes::take(value, "inputs");
    auto array = value.As<Napi::Int32Array>();
    return std::vector<llama_token>(array.Data(), array.Data() + array.ElementLength());
}

void read_inputs(const Napi::Value & value, EmbedRequest & into) {
    if (!value.IsArray()) OptionReader::refuse("inputs", "an array");
    auto list = value.As<Napi::Array>();
    if (list.Length() > kMostInputs) OptionReader::refuse("inputs", "at most " + std::to_string(kMostInputs) + " elements");
    for (uint32_t i = 0; i < list.Length(); i++) into.inputs.push_back(input_of(list.Get(i)));
}

Napi::Array token_counts(Napi::Env env, const EmbedRequest & request) {
    auto counts = Napi::Array::New(env, request.n_tokens.size());
    for (uint32_t i = 0; i < request.n_tokens.size(); i++) counts.Set(i, request.n_tokens[i]);
    return counts;
}

Napi::Object embed_result(Napi::Env env, const EmbedRequest & request) {
    auto vectors = Napi::Array::New(env, request.vectors.size());
    for (uint32_t i = 0; i < request.vectors.size(); i++) {
        auto vector = Napi::Float32Array::New(env, request.vectors[i].size());
        std::copy(request.vectors[i].begin(), request.vectors[i].end(), vector.Data());
        vectors.Set(i, vector);
    }
    auto to = Napi::Object::New(env);
    to.Set("vectors", vectors);
    auto truncated = Napi::Array::New(env, request.truncated.size());
    for (uint32_t i = 0; i < request.truncated.size(); i++) truncated.Set(i, static_cast<double>(request.truncated[i]));
    to.Set("truncated", truncated);
    to.Set("nTokens", token_counts(env, request));
    return to;
}

Napi::Object rank_result(Napi::Env env, const EmbedRequest & request) {
    auto scores = Napi::Float32Array::New(env, request.vectors.size());
    for (size_t i = 0; i < request.vectors.size(); i++) scores[i] = request.vectors[i].at(0);
    auto to = Napi::Object::New(env);
    to.Set("scores", scores);
    to.Set("nTokens", token_counts(env, request));
    return to;
}

Napi::Function cancel_function(Napi::Env env, const std::shared_ptr<Embedder> & embedder,
                               const std::shared_ptr<EmbedRequest> & request) {
    return Napi::Function::New(
        env, [weak_embedder = std::weak_ptr(embedder), weak = std::weak_ptr(request)](const Napi::CallbackInfo &) {
            const auto held_embedder = weak_embedder.lock();
            const auto held = weak.lock();
            if (held_embedder && held) held_embedder->cancel(*held);
        });
}

// Settles a promise from the embedder thread: one crossing for each request. Returns it with what cancels the request.
Napi::Value submit(Napi::Env env, const std::shared_ptr<Embedder> & embedder, const std::shared_ptr<EmbedRequest> & request,
                   const Napi::Value & object, const Napi::Value & options) {
    if (!options.IsObject()) OptionReader::refuse("options", "an object");
    auto asked = embed_options(options.As<Napi::Object>());
    request->tenant = std::move(asked.tenant);
    request->is_background = asked.is_background;
    request->truncates = asked.truncates;
    auto deferred = std::make_shared<Napi::Promise::Deferred>(env);
    auto to = Napi::Object::New(env);
    to.Set("result", deferred->Promise());
    to.Set("cancel", cancel_function(env, embedder, request));
    auto function = Napi::Function::New(env, [](const Napi::CallbackInfo &) {});
    // Whoever waits for the promise alone must find it settled: until then the embedder is not collected.
    function.Set("embedder", object);
    auto back = JsCallback::create(env, function, "svc.embed");
    // Last: what the embedder has begun is no longer refused.
    try {
        request->done = [back, deferred, weak = std::weak_ptr(request)]() mutable {
            back->call([deferred, held = weak.lock()](Napi::Env e, Napi::Function) {
                if (!held->status.code.empty()) deferred->Reject(make_error(e, held->status));
                else deferred->Resolve(held->rank ? rank_result(e, *held) : embed_result(e, *held));
            });
            back->release();
        };
        embedder->submit(request, asked.timeout_ms);
    } catch (...) {
        back->release();
        throw;
    }
    return to;
}

}  // namespace

void EmbedderObject::define(Napi::Env env) {
    auto constructor = DefineClass(env, "Embedder",
                                   {
                                       InstanceMethod("limits", &EmbedderObject::limits),
                                       InstanceMethod("stats", &EmbedderObject::stats),
                                       InstanceMethod("embed", &EmbedderObject::embed),
                                       InstanceMethod("rank", &EmbedderObject::rank),
                                       InstanceMethod("close", &EmbedderObject::close),
                                   });
    EnvState::of(env).constructors["Embedder"] = Napi::Persistent(constructor);
}

Napi::Object EmbedderObject::wrap(Napi::Env env, std::shared_ptr<Embedder> embedder) {
    return EnvState::of(env).constructors.at("Embedder").New({tagged(env, &embedder, kEmbedderTag)});
}

EmbedderObject::EmbedderObject(const Napi::CallbackInfo & info) : Napi::ObjectWrap<EmbedderObject>(info) {
    embedder_ = untagged<std::shared_ptr<Embedder>>(info[0], kEmbedderTag, "embedders come from createEmbedder()");
    Value().TypeTag(&kEmbedderTag);
    constructing(info.Env(),
                 [&] { EnvState::of(info.Env()).closers[embedder_.get()] = [embedder = embedder_] { embedder->close(); }; });
}

// Collected without close(), which happens when no request is left: the closer would keep it until the environment ends.
void EmbedderObject::Finalize(Napi::Env env) { EnvState::of(env).closers.erase(embedder_.get()); }

Napi::Value EmbedderObject::limits(const Napi::CallbackInfo & info) { return limits_object(info.Env(), embedder_->limits()); }

Napi::Value EmbedderObject::stats(const Napi::CallbackInfo & info) {
    const auto & queue = embedder_->queue();
    auto to = Napi::Object::New(info.Env());
    to.Set("nQueued", queue.n_jobs());
    to.Set("nQueuedTokens", static_cast<double>(queue.n_tokens()));
    to.Set("requestsPerSecond", queue.rate());
    to.Set("deviceFailed", embedder_->device_failed());
    to.Set("tokenMs", embedder_->ms_per_token());
    return to;
}

Napi::Value EmbedderObject::embed(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        auto request = std::make_shared<EmbedRequest>();
        read_inputs(info[0], *request);
        return submit(info.Env(), embedder_, request, info.This(), info[1]);
    });
}

Napi::Value EmbedderObject::rank(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        auto request = std::make_shared<EmbedRequest>();
        request->rank = true;
        request->query = StagedBytes::take(info[0], "query");
        read_inputs(info[1], *request);
        return submit(info.Env(), embedder_, request, info.This(), info[2]);
    });
}

Napi::Value EmbedderObject::close(const Napi::CallbackInfo & info) {
    const MemoryWait wait;
    return PromiseThread<bool>::start(
        info.Env(),
        [embedder = embedder_] {
            embedder->close();
            return true;
        },
        [embedder = embedder_](Napi::Env e, bool &) {
            EnvState::of(e).closers.erase(embedder.get());
            return e.Undefined();
        });
}

}  // namespace svc
