#include "model_object.h"

#include <algorithm>

#include "../../common/env_state.h"
#include "../../common/promise_thread.h"
#include "../../common/promise_worker.h"
#include "../../common/staged_bytes.h"
#include "../../common/type_tags.h"
#include "../chat/prompt.h"
#include "../grammar/grammar_budget.h"
#include "embedder_object.h"
#include "engine_object.h"
#include "memory_plan.h"
#include "synthesizer_object.h"

namespace svc {

namespace {

const char * pooling_name(const Model & model) {
    static const char * const names[] = {"none", "mean", "cls", "last", "rank"};
    auto text = model.meta((model.meta("general.architecture") + ".pooling_type").c_str());
    const int value = text.empty() ? -1 : std::atoi(text.c_str());
    return value < 0 || value > 4 ? "unspecified" : names[value];
}

const char * arguments_name(const ChatFormat * format) {
    const auto arguments = format ? format->call_arguments() : CallArguments::Json;
    return arguments == CallArguments::Json ? "json" : arguments == CallArguments::Tagged ? "tagged" : "free";
}

Napi::Value int32_array(Napi::Env env, const std::vector<llama_token> & tokens) {
    auto array = Napi::Int32Array::New(env, tokens.size());
    std::copy(tokens.begin(), tokens.end(), array.Data());
    return array;
}

// A tokenizer reads about a megabyte a second. Fewer bytes than this are read in less time than a thread's start is worth.
constexpr size_t kLongBytes = 64 << 10;

template <typename T>
Napi::Promise start_by_size(Napi::Env env, size_t n_bytes, typename PromiseThread<T>::Work work,
                            typename PromiseThread<T>::Wrap wrap) {
    if (n_bytes < kLongBytes) return PromiseWorker<T>::start(env, std::move(work), std::move(wrap));
    return PromiseThread<T>::start(env, std::move(work), std::move(wrap));
}

size_t n_bytes_of(const PromptOptions & prompt) {
    return prompt.messages_json.size() + prompt.tools_json.size() + prompt.template_kwargs_json.size();
}

Prompt read_prompt(const Model & model, const JobOptions & job) {
    const GrammarBudget budget(GrammarBudget::Kind::Thread, kTuning.grammar_compile_ms);
    try {
        return prepare_prompt(model, job, UINT32_MAX);
    } catch (const GrammarLate &) {
        refuse_late_grammar();
    }
}

Napi::Object object_argument(const Napi::Value & value) {
    if (!value.IsObject()) throw StatusError("invalid_argument", "the options must be an object");
    return value.As<Napi::Object>();
}

// The model of another ModelObject; absent: none.
std::shared_ptr<Model> draft_model(const Napi::Value & value) {
    if (value.IsUndefined() || value.IsNull()) return nullptr;
    if (value.IsExternal() || !has_tag(value, kModelTag))
        throw StatusError("invalid_argument", "draftModel must be a loaded model");
    return ModelObject::Unwrap(value.As<Napi::Object>())->model();
}

}  // namespace

void ModelObject::define(Napi::Env env) {
    auto constructor = DefineClass(env, "Model",
                                   {
                                       InstanceMethod("info", &ModelObject::info),
                                       InstanceMethod("tokenize", &ModelObject::tokenize),
                                       InstanceMethod("detokenize", &ModelObject::detokenize),
                                       InstanceMethod("renderChat", &ModelObject::render_chat),
                                       InstanceMethod("countTokens", &ModelObject::count_tokens),
                                       InstanceMethod("createEngine", &ModelObject::create_engine),
                                       InstanceMethod("createEmbedder", &ModelObject::create_embedder),
                                       InstanceMethod("createSynthesizer", &ModelObject::create_synthesizer),
                                       InstanceMethod("planMemory", &ModelObject::plan_memory),
                                       InstanceMethod("close", &ModelObject::close),
                                   });
    EnvState::of(env).constructors["Model"] = Napi::Persistent(constructor);
}

Napi::Object ModelObject::wrap(Napi::Env env, std::shared_ptr<Model> model) {
    return EnvState::of(env).constructors.at("Model").New({tagged(env, &model, kModelTag)});
}

ModelObject::ModelObject(const Napi::CallbackInfo & info) : Napi::ObjectWrap<ModelObject>(info) {
    model_ = untagged<std::shared_ptr<Model>>(info[0], kModelTag, "models come from startLoad()");
    Value().TypeTag(&kModelTag);
}

const std::shared_ptr<Model> & ModelObject::model() const {
    if (!model_) throw StatusError("closed", "the model is closed");
    return model_;
}

Napi::Value ModelObject::info(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&] {
        const auto & m = *model();
        const auto * raw = m.raw();
        char description[256] = {};
        llama_model_desc(raw, description, sizeof description);
        auto to = Napi::Object::New(env);
        to.Set("architecture", m.meta("general.architecture"));
        to.Set("description", static_cast<const char *>(description));
        to.Set("name", m.meta("general.name"));
        to.Set("nParams", static_cast<double>(m.vocab_only() ? 0 : llama_model_n_params(raw)));
        to.Set("sizeBytes", static_cast<double>(m.vocab_only() ? 0 : llama_model_size(raw)));
        to.Set("nVocab", m.n_vocab());
        to.Set("nCtxTrain", m.vocab_only() ? 0 : llama_model_n_ctx_train(raw));
        to.Set("nEmbd", m.vocab_only() ? 0 : llama_model_n_embd_out(raw));
        to.Set("nLayer", m.vocab_only() ? 0 : llama_model_n_layer(raw));
        to.Set("pooling", pooling_name(m));
        to.Set("hasEncoder", !m.vocab_only() && llama_model_has_encoder(raw));
        to.Set("hasDecoder", !m.vocab_only() && llama_model_has_decoder(raw));
        const auto * templates = m.chat_format() ? m.chat_format()->templates() : nullptr;
        auto caps = templates ? common_chat_templates_get_caps(templates) : std::map<std::string, bool>{};
        to.Set("hasChatTemplate", templates && common_chat_templates_was_explicit(templates));
        to.Set("supportsTools", caps["supports_tools"] && caps["supports_tool_calls"]);
        to.Set("callArguments", arguments_name(m.chat_format()));
        to.Set("supportsThinking", templates && common_chat_templates_support_enable_thinking(templates));
        to.Set("supportsVision", m.projector() && mtmd_support_vision(m.projector()));
        to.Set("supportsAudio", m.projector() && mtmd_support_audio(m.projector()));
        to.Set("audioRate", m.projector() ? std::max(0, mtmd_get_audio_sample_rate(m.projector())) : 0);
        return to;
    });
}

Napi::Value ModelObject::tokenize(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        auto text = StagedBytes::take(info[0], "text");
        const bool add_special = info[1].ToBoolean();
        const bool parse_special = info[2].ToBoolean();
        const size_t n_bytes = text.size();
        return start_by_size<std::vector<llama_token>>(
            env, n_bytes,
            [model = model(), text = std::move(text), add_special, parse_special] {
                return model->tokenize(text, add_special, parse_special);
            },
            int32_array);
    });
}

Napi::Value ModelObject::detokenize(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
            throw StatusError("invalid_argument", "the tokens must be an Int32Array");
        }
        auto array = info[0].As<Napi::Int32Array>();
        std::vector<llama_token> tokens(array.Data(), array.Data() + array.ElementLength());
        const bool special = info[1].ToBoolean();
        const size_t n_bytes = tokens.size() * sizeof(llama_token);
        return start_by_size<std::string>(
            env, n_bytes, [model = model(), tokens = std::move(tokens), special] { return model->detokenize(tokens, special); },
            [](Napi::Env e, std::string & text) -> Napi::Value { return Napi::String::New(e, text); });
    });
}

Napi::Value ModelObject::render_chat(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        JobOptions job;
        job.prompt = prompt_options(object_argument(info[0]));
        const size_t n_bytes = n_bytes_of(job.prompt);
        return start_by_size<Prompt>(
            env, n_bytes, [model = model(), job = std::move(job)] { return read_prompt(*model, job); },
            [](Napi::Env e, Prompt & prompt) -> Napi::Value {
                auto to = Napi::Object::New(e);
                to.Set("prompt", prompt.text);
                to.Set("tokens", int32_array(e, prompt.tokens));
                return to;
            });
    });
}

Napi::Value ModelObject::count_tokens(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        JobOptions job;
        job.prompt = prompt_options(object_argument(info[0]));
        const size_t n_bytes = n_bytes_of(job.prompt);
        return start_by_size<size_t>(
            env, n_bytes, [model = model(), job = std::move(job)] { return read_prompt(*model, job).tokens.size(); },
            [](Napi::Env e, size_t & count) -> Napi::Value { return Napi::Number::New(e, static_cast<double>(count)); });
    });
}

Napi::Value ModelObject::create_engine(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        auto options = engine_options(object_argument(info[0]));
        auto draft = draft_model(info[0].As<Napi::Object>().Get("draftModel"));
        if (!info[1].IsFunction()) throw StatusError("invalid_argument", "onStep must be a function");
        auto on_step = std::make_shared<Napi::FunctionReference>(Napi::Persistent(info[1].As<Napi::Function>()));
        return PromiseThread<std::shared_ptr<Engine>>::start(
            env, [model = model(), options, draft] { return std::make_shared<Engine>(model, options, draft); },
            [on_step](Napi::Env e, std::shared_ptr<Engine> & engine) -> Napi::Value {
                return EngineObject::wrap(e, engine, on_step->Value());
            });
    });
}

Napi::Value ModelObject::create_embedder(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        auto options = engine_options(object_argument(info[0]));
        return PromiseThread<std::shared_ptr<Embedder>>::start(
            env, [model = model(), options] { return std::make_shared<Embedder>(model, options); },
            [](Napi::Env e, std::shared_ptr<Embedder> & embedder) -> Napi::Value { return EmbedderObject::wrap(e, embedder); });
    });
}

Napi::Value ModelObject::create_synthesizer(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        auto options = engine_options(object_argument(info[0]));
        return PromiseThread<std::shared_ptr<Synthesizer>>::start(
            env, [model = model(), options] { return std::make_shared<Synthesizer>(model, options); },
            [](Napi::Env e, std::shared_ptr<Synthesizer> & synthesizer) -> Napi::Value {
                return SynthesizerObject::wrap(e, synthesizer);
            });
    });
}

Napi::Value ModelObject::plan_memory(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        auto engine = engine_options(object_argument(info[0]));
        auto load = load_options(object_argument(info[1]));
        return PromiseThread<MemoryPlan>::start(
            env, [model = model(), engine, load] { return svc::plan_memory(*model, engine, load); },
            [](Napi::Env e, MemoryPlan & plan) -> Napi::Value {
                auto to = Napi::Object::New(e);
                to.Set("weights", memory_object(e, plan.weights));
                to.Set("extras", memory_object(e, plan.extras));
                if (plan.engine) to.Set("engine", memory_object(e, *plan.engine));
                if (plan.embedder) to.Set("embedder", memory_object(e, *plan.embedder));
                to.Set("nEngineCtx", plan.n_engine_ctx);
                to.Set("nEmbedderCtx", plan.n_embedder_ctx);
                return to;
            });
    });
}

// Lets go of the weights; they are freed off the JS thread when no engine uses them.
Napi::Value ModelObject::close(const Napi::CallbackInfo & info) {
    const MemoryWait wait;
    auto env = info.Env();
    auto model = std::make_shared<std::shared_ptr<Model>>(std::move(model_));
    model_ = nullptr;
    return PromiseThread<bool>::start(
        env,
        [model] {
            model->reset();
            return true;
        },
        [](Napi::Env e, bool &) { return e.Undefined(); });
}

}  // namespace svc
