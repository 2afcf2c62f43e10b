#include "engine_object.h"

#include "../../common/env_state.h"
#include "../../common/promise_thread.h"
#include "../../common/type_tags.h"

namespace svc {

namespace {

uint32_t id_argument(const Napi::Value & value) {
    if (!value.IsNumber()) throw StatusError("invalid_argument", "a job id must be a number");
    return value.As<Napi::Number>().Uint32Value();
}

// The names stand in the order of DraftKind.
constexpr const char * kDraftKindNames[kDraftKinds] = {"ngram2", "ngram3", "ngram4", "ngram8", "ngram16", "model"};

Napi::Object estimates_object(Napi::Env env, const EngineStats & stats) {
    auto to = Napi::Object::New(env);
    to.Set("decodeStepMs", stats.decode_step_ms.load());
    to.Set("prefillTokenMs", stats.prefill_token_ms.load());
    to.Set("prefillTokenDepthMs", stats.prefill_token_depth_ms.load());
    to.Set("nComputeThreads", stats.n_compute_threads.load());
    to.Set("computePollUs", stats.compute_poll_us.load());
    to.Set("computeQueuedShare", stats.compute_queued_share.load());
    to.Set("kvCopyBytesPerMs", stats.kv_copy_bytes_per_ms.load());
    to.Set("kvDiskBytesPerMs", stats.kv_disk_bytes_per_ms.load());
    to.Set("draftAllowanceMs", stats.draft_allowance_ms.load());
    auto acceptance = Napi::Object::New(env);
    for (size_t i = 0; i < kDraftKinds; i++) acceptance.Set(kDraftKindNames[i], stats.draft_acceptance[i].load());
    to.Set("draftAcceptance", acceptance);
    return to;
}

}  // namespace

Napi::Object memory_object(Napi::Env env, const MemoryUse & use) {
    auto to = Napi::Object::New(env);
    to.Set("hostBytes", use.host);
    to.Set("deviceBytes", use.device);
    return to;
}

Napi::Object limits_object(Napi::Env env, const EngineLimits & limits) {
    auto to = Napi::Object::New(env);
    to.Set("nCtx", limits.n_ctx);
    to.Set("nCtxPerJob", limits.n_ctx_per_job);
    to.Set("nParallel", limits.n_parallel);
    to.Set("nThreads", limits.n_threads);
    to.Set("memory", memory_object(env, limits.memory));
    to.Set("weights", memory_object(env, limits.weights));
    return to;
}

void EngineObject::define(Napi::Env env) {
    auto constructor = DefineClass(env, "Engine",
                                   {
                                       InstanceMethod("limits", &EngineObject::limits),
                                       InstanceMethod("stats", &EngineObject::stats),
                                       InstanceMethod("submit", &EngineObject::submit),
                                       InstanceMethod("cancel", &EngineObject::cancel),
                                       InstanceMethod("pause", &EngineObject::pause),
                                       InstanceMethod("resume", &EngineObject::resume),
                                       InstanceMethod("close", &EngineObject::close),
                                   });
    EnvState::of(env).constructors["Engine"] = Napi::Persistent(constructor);
}

Napi::Object EngineObject::wrap(Napi::Env env, std::shared_ptr<Engine> engine, Napi::Function on_step) {
    return EnvState::of(env).constructors.at("Engine").New({tagged(env, &engine, kEngineTag), on_step});
}

EngineObject::EngineObject(const Napi::CallbackInfo & info) : Napi::ObjectWrap<EngineObject>(info) {
    const auto & engine = untagged<std::shared_ptr<Engine>>(info[0], kEngineTag, "engines come from createEngine()");
    Value().TypeTag(&kEngineTag);
    constructing(info.Env(), [&] {
        running_ = std::make_shared<Running>();
        running_->engine = engine;
        running_->channel = std::make_unique<StepChannel>(info.Env(), info[1].As<Napi::Function>());
        start(info.Env());
    });
}

void EngineObject::start(Napi::Env env) {
    auto & closers = EnvState::of(env).closers;
    closers[running_.get()] = [running = running_] { running->end(); };
    try {
        running_->engine->start(running_->channel.get());
    } catch (...) {
        closers.erase(running_.get());
        running_->end();
        throw;
    }
}

// Collected without close(): the closer would keep it until the environment ends.
void EngineObject::Finalize(Napi::Env env) {
    if (running_ && EnvState::of(env).closers.erase(running_.get()) > 0) running_->end();
}

void EngineObject::Running::end() {
    engine->close();
    channel->close();
}

Napi::Value EngineObject::limits(const Napi::CallbackInfo & info) {
    return limits_object(info.Env(), running_->engine->limits());
}

Napi::Value EngineObject::stats(const Napi::CallbackInfo & info) {
    const auto & stats = running_->engine->stats();
    auto to = Napi::Object::New(info.Env());
    to.Set("nQueued", running_->engine->queue().n_jobs());
    to.Set("nQueuedTokens", static_cast<double>(running_->engine->queue().n_tokens()));
    to.Set("deviceFailed", stats.device_failed.load());
    to.Set("nActive", stats.n_active.load());
    to.Set("kvCellsUsed", stats.n_cells_used.load());
    to.Set("kvCells", running_->engine->limits().n_ctx);
    to.Set("promptTokensTotal", static_cast<double>(stats.n_prompt_tokens.load()));
    to.Set("cachedTokensTotal", static_cast<double>(stats.n_cached_tokens.load()));
    to.Set("completionTokensTotal", static_cast<double>(stats.n_completion_tokens.load()));
    to.Set("offloadMemoryBytes", static_cast<double>(stats.n_tier_memory_bytes.load()));
    to.Set("offloadDiskBytes", static_cast<double>(stats.n_tier_disk_bytes.load()));
    to.Set("offloadHitsTotal", static_cast<double>(stats.n_tier_hits.load()));
    to.Set("restoredTokensTotal", static_cast<double>(stats.n_restored_tokens.load()));
    to.Set("draftedTokensTotal", static_cast<double>(stats.n_drafted_tokens.load()));
    to.Set("acceptedTokensTotal", static_cast<double>(stats.n_accepted_tokens.load()));
    to.Set("stepsTotal", static_cast<double>(stats.n_steps.load()));
    to.Set("lateRowsTotal", static_cast<double>(stats.n_late_rows.load()));
    to.Set("lastStepMs", stats.last_step_ms.load());
    to.Set("jobsPerSecond", running_->engine->queue().rate());
    to.Set("estimates", estimates_object(info.Env(), stats));
    return to;
}

Napi::Value EngineObject::submit(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        if (!info[0].IsObject()) throw StatusError("invalid_argument", "a job must be an object");
        return Napi::Number::New(
            env, running_->engine->submit(job_options(info[0].As<Napi::Object>(), running_->engine->default_sampling())));
    });
}

Napi::Value EngineObject::cancel(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        running_->engine->cancel(id_argument(info[0]));
        return info.Env().Undefined();
    });
}

Napi::Value EngineObject::pause(const Napi::CallbackInfo & info) {
    set_paused(info, true);
    return info.Env().Undefined();
}

Napi::Value EngineObject::resume(const Napi::CallbackInfo & info) {
    set_paused(info, false);
    return info.Env().Undefined();
}

void EngineObject::set_paused(const Napi::CallbackInfo & info, bool paused) {
    guarded(info.Env(), [&] {
        running_->engine->set_paused(id_argument(info[0]), paused);
        return info.Env().Undefined();
    });
}

Napi::Value EngineObject::close(const Napi::CallbackInfo & info) {
    const MemoryWait wait;
    auto env = info.Env();
    return PromiseThread<bool>::start(
        env,
        [running = running_] {
            running->engine->close();
            return true;
        },
        [running = running_](Napi::Env e, bool &) {
            EnvState::of(e).closers.erase(running.get());
            running->channel->flush();
            running->channel->close();
            return e.Undefined();
        });
}

}  // namespace svc
