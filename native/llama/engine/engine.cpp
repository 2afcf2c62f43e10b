#include "engine.h"

#include <algorithm>
#include <cstring>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../context/context_plan.h"
#include "../model/device_fault.h"
#include "../model/memory_use.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

// Sets of adapters that differ at all have different keys: a scale is its bits, as adapters of one key share batches and
// prefixes.
std::string key_of(const std::map<std::string, float> & loras) {
    std::string key;
    for (const auto & [name, scale] : loras) {
        char bits[sizeof scale];
        std::memcpy(bits, &scale, sizeof scale);
        key.append(std::to_string(name.size())).append(1, ':').append(name).append(bits, sizeof bits);
    }
    return key;
}

std::shared_ptr<Job> job_of(JobOptions options) {
    auto job = std::make_shared<Job>();
    job->lora_key = key_of(options.loras);
    job->cache_key = options.tenant + '\0' + job->lora_key;
    job->submitted = Clock::now();
    if (options.timeout_ms > 0) job->deadline = job->submitted + std::chrono::milliseconds(options.timeout_ms);
    job->options = std::move(options);
    return job;
}

KvCache::Options kv_options(const Model & model, const EngineOptions & options, const ContextPlan & plan,
                            const EngineLimits & limits) {
    const auto n_window = static_cast<uint32_t>(std::max(0, llama_model_n_swa(model.raw())));
    const bool saves = options.kv_offload_memory_bytes > 0 && plan.sharing != Sharing::None;
    const auto n_copying = static_cast<uint32_t>(std::clamp(limits.n_threads, 1, kTuning.helping_threads));
    return {{plan.n_sequences, limits.n_ctx, plan.sharing, n_window, saves, n_copying},
            {saves ? options.kv_offload_memory_bytes : 0, options.kv_offload_disk_bytes, options.kv_offload_folder, n_window}};
}

}  // namespace

Engine::Engine(std::shared_ptr<Model> model, EngineOptions options, std::shared_ptr<Model> draft_model)
    : model_(std::move(model)), default_sampling_(sampling_defaults(*model_)) {
    const DeviceFaultScope scope;
    if (model_->weightless()) throw StatusError("unsupported", "this model was loaded without its weights and cannot generate");
    for (const auto & [name, adapter] : model_->loras()) adapters_.insert(name);
    inbox_.admission().set_limits(queue_limits(options));
    plan_memory(options, std::move(draft_model));
}

// Makes what takes memory.
void Engine::plan_memory(const EngineOptions & options, std::shared_ptr<Model> draft_model) {
    const auto plan = plan_generation(*model_, options);
    context_ = create_context(*model_, plan.params);
    limits_.n_ctx = llama_n_ctx(context_.get());
    // Beyond the trained context answers degrade, and models with learned positions have none.
    limits_.n_ctx_per_job = std::min(llama_n_ctx_seq(context_.get()), n_ctx_usable(*model_, options));
    limits_.n_parallel = plan.n_parallel;
    limits_.n_threads = plan.params.n_threads;
    limits_.memory = memory_of(context_.get(), plan.n_sequences + plan.n_draft_rows);
    limits_.weights = weights_of(context_.get());
    kv_ = std::make_unique<KvCache>(context_.get(), kv_options(*model_, options, plan, limits_), estimates_,
                                    [this] { inbox_.notify(); });
    decoder_ = std::make_unique<Decoder>(*model_, context_.get(), limits_, plan.params.n_threads_batch);
    if (plan.n_draft_rows == 0) return;
    speculation_ = std::make_unique<Speculation>(options, plan, limits_.n_ctx_per_job, *model_, std::move(draft_model));
    limits_.memory += speculation_->memory();
}

Engine::~Engine() { close(); }

void Engine::start(StepChannel * channel) {
    channel_ = channel;
    writer_ = std::make_unique<AnswerWriter>(channel, [this] { inbox_.notify(); });
    loop_ = std::make_unique<StepLoop>(StepLoop::Parts{*model_, limits_, context_.get(), *kv_, *decoder_, speculation_.get(),
                                                       estimates_, inbox_, *writer_, *channel, stats_});
    preparation_ = std::make_unique<Preparation>(
        model_, limits_.n_ctx_per_job, [this](const auto & job) { inbox_.deliver(job); },
        [this](const auto & job, const Status & status) { refuse(job, status); });
    thread_ = std::thread([this] { loop_->run(); });
}

uint32_t Engine::submit(JobOptions options) {
    check(options);
    const auto job = job_of(std::move(options));
    inbox_.add(job);
    const uint32_t id = job->id;
    const auto status = catch_status([&] { preparation_->push(job); });
    if (status.code.empty()) return id;
    inbox_.leave_queue(*job);
    inbox_.forget(*job);
    throw StatusError(status);
}

// Throws StatusError invalid_argument.
void Engine::check(const JobOptions & options) const {
    if (options.n > static_cast<int32_t>(limits_.n_parallel)) {
        throw StatusError("invalid_argument",
                          "'n' must be at most " + std::to_string(limits_.n_parallel) + ", the number of parallel sequences");
    }
    for (const auto & lora : options.loras) {
        if (!adapters_.count(lora.first)) throw StatusError("invalid_argument", "no LoRA adapter is named '" + lora.first + "'");
    }
}

// A preparing thread calls it.
void Engine::refuse(const std::shared_ptr<Job> & job, const Status & status) {
    const MemoryWait wait;
    inbox_.leave_queue(*job);
    inbox_.forget(*job);
    Bytes out;
    write_error(job->id, status, out);
    channel_->send(out.view());
}

void Engine::close() {
    std::lock_guard closing(close_mutex_);
    inbox_.close();
    if (preparation_) preparation_->close();
    if (thread_.joinable()) thread_.join();
    if (writer_) writer_->close();
    fail_left();
    free_memory();
}

// Jobs that never came to the engine thread.
void Engine::fail_left() {
    const MemoryWait wait;
    Bytes out;
    for (const auto & job : inbox_.take_left()) {
        if (!job->cancelled) write_error(job->id, {"closed", "the engine was closed"}, out);
    }
    if (!channel_ || out.data().empty()) return;
    channel_->send(out.view());
}

// Now, and not when JS collects the object that holds the engine: somebody may wait for the memory.
void Engine::free_memory() {
    if (stats_.device_failed || (model_ && model_->is_on_lost_device())) {
        keep_forever(speculation_);
        keep_forever(context_);
        keep_forever(model_);
    }
    loop_.reset();
    writer_.reset();
    speculation_.reset();
    decoder_.reset();
    kv_.reset();
    context_.reset();
    model_.reset();
}

}  // namespace svc
