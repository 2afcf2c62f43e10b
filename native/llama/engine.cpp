// Lifecycle and the ways in: submit, cancel, pause, the preparing thread. Scheduling is in engine_schedule.cpp, the decode step
// in engine_step.cpp.
#include "engine.h"

#include <algorithm>
#include <random>
#include <tuple>

#include "../common/status.h"
#include "context_plan.h"

namespace svc {

namespace {

// Threads that sample, and those that copy states.
constexpr int32_t kMostHelpingThreads = 4;
// An image of a megabyte comes to a few hundred tokens: counted as text, a few would fill the queue.
constexpr size_t kMediaBytesPerTextByte = 16;

std::string key_of(const std::map<std::string, float> & loras) {
    std::string key;
    for (const auto & [name, scale] : loras) key += name + '=' + std::to_string(scale) + ';';
    return key;
}

// What the job holds, as bytes of text.
size_t n_bytes_of(const JobOptions & job) {
    const auto & prompt = job.prompt;
    size_t n_bytes = prompt.messages_json.size() + prompt.tools_json.size() + prompt.template_kwargs_json.size() +
                     prompt.text.size() + prompt.tokens.size() * sizeof(llama_token);
    n_bytes += job.json_schema.size() + job.grammar.size() + job.logit_bias.size() * sizeof(llama_logit_bias);
    for (const auto & text : job.stop) n_bytes += text.size();
    for (const auto & media : job.media) n_bytes += media.size() / kMediaBytesPerTextByte;
    return n_bytes;
}

// Grammars are compiled; biases and ignore_eos look at every token of the vocabulary.
bool is_slow_to_equip(const Job & job) {
    return !job.prompt.grammar.text.empty() || !job.options.logit_bias.empty() || job.options.sampling.ignore_eos;
}

}  // namespace

QueueBound::Limits queue_limits(const EngineOptions & options) {
    return {options.max_queued_jobs ? options.max_queued_jobs : QueueBound::kAutoJobs,
            options.max_queued_tokens ? options.max_queued_tokens : QueueBound::kAutoTokens, options.max_queue_ms};
}

std::unique_ptr<ComputeTurns::Member> join_compute_turns(const EngineLimits & limits) {
    const bool on_device = limits.weights.device > 0;
    return std::make_unique<ComputeTurns::Member>(on_device ? 0 : static_cast<uint32_t>(std::max(0, limits.n_threads)));
}

Engine::Engine(std::shared_ptr<Model> model, EngineOptions options, std::shared_ptr<Model> draft_model)
    : model_(std::move(model)), options_(options), default_sampling_(sampling_defaults(*model_)) {
    if (model_->weightless()) throw StatusError("unsupported", "this model was loaded without its weights and cannot generate");
    auto plan = plan_generation(*model_, options_);
    context_ = create_context(*model_, plan.params);
    queue_.set_limits(queue_limits(options_));
    limits_.n_ctx = llama_n_ctx(context_.get());
    // Beyond the trained context answers degrade, and models with learned positions have none.
    limits_.n_ctx_per_job =
        std::min(llama_n_ctx_seq(context_.get()), static_cast<uint32_t>(std::max(1, llama_model_n_ctx_train(model_->raw()))));
    limits_.n_parallel = plan.n_parallel;
    limits_.n_threads = plan.params.n_threads;
    limits_.memory = memory_of(context_.get(), plan.n_sequences + plan.n_draft_rows);
    limits_.weights = weights_of(context_.get());
    const auto n_window = static_cast<uint32_t>(std::max(0, llama_model_n_swa(model_->raw())));
    const bool saves = options_.kv_tier_memory_bytes > 0 && plan.sharing != Sharing::None;
    const auto n_helping = static_cast<uint32_t>(std::clamp(limits_.n_threads, 1, kMostHelpingThreads));
    sequences_ = std::make_unique<Sequences>(
        context_.get(), Sequences::Options{plan.n_sequences, limits_.n_ctx, plan.sharing, n_window, saves, n_helping});
    if (saves) {
        tier_ = std::make_unique<KvTier>(
            KvTier::Options{options_.kv_tier_memory_bytes, options_.kv_tier_disk_bytes, options_.kv_tier_folder, n_window},
            [this] { nudge(); });
    }
    batch_ = std::make_unique<Batch>(static_cast<int32_t>(llama_n_batch(context_.get())));
    compute_ = join_compute_turns(limits_);
    n_batch_threads_ = plan.params.n_threads_batch;
    if (limits_.weights.device <= 0) threads_ = std::make_unique<ThreadChoice>(limits_.n_threads, count_involuntary_switches);
    budget_ = std::make_unique<PrefillBudget>(llama_n_ubatch(context_.get()));
    if (plan.n_draft_rows > 0) {
        speculation_ = std::make_unique<Speculation>(options_, plan, limits_.n_ctx_per_job, *model_, std::move(draft_model));
        limits_.memory += speculation_->memory();
    }
    rows_ = std::make_unique<RowPool>(n_helping);
}

Engine::~Engine() { close(); }

void Engine::start(StepChannel * channel) {
    channel_ = channel;
    writer_ = std::make_unique<AnswerWriter>(channel, [this] { nudge(); });
    preparing_ = std::thread([this] { prepare_loop(); });
    engine_ = std::thread([this] { run(); });
}

uint32_t Engine::submit(JobOptions options) {
    const auto model = open_model();
    if (options.n > static_cast<int32_t>(limits_.n_parallel)) {
        throw StatusError("invalid_argument",
                          "'n' must be at most " + std::to_string(limits_.n_parallel) + ", the number of parallel sequences");
    }
    for (const auto & lora : options.loras) {
        if (!model->loras().count(lora.first))
            throw StatusError("invalid_argument", "no LoRA adapter is named '" + lora.first + "'");
    }
    auto job = std::make_shared<Job>();
    job->lora_key = key_of(options.loras);
    job->cache_key = options.tenant + '\0' + job->lora_key;
    job->submitted = Clock::now();
    if (options.timeout_ms > 0) job->deadline = job->submitted + std::chrono::milliseconds(options.timeout_ms);
    job->options = std::move(options);
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the engine is closed");
    job->n_queued_tokens = queue_.enter(job->options.tenant, n_bytes_of(job->options), job->options.timeout_ms);
    job->id = next_id_++;
    by_id_[job->id] = job;
    to_prepare_.push(job);
    wake_preparing_.notify_one();
    return job->id;
}

// Throws StatusError closed.
std::shared_ptr<Model> Engine::open_model() {
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the engine is closed");
    return model_;
}

// Its place in the queue is free again. Any thread.
void Engine::leave_queue(Job & job) {
    if (job.counted.exchange(false)) queue_.leave(job.options.tenant, job.n_queued_tokens);
}

void Engine::cancel(uint32_t id) {
    std::lock_guard lock(mutex_);
    auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    found->second->cancelled = true;
    leave_queue(*found->second);
    cancelled_.push_back(id);
    nudged_ = true;
    wake_engine_.notify_one();
}

void Engine::nudge() {
    std::lock_guard lock(mutex_);
    nudged_ = true;
    wake_engine_.notify_one();
}

void Engine::set_paused(uint32_t id, bool paused) {
    std::lock_guard lock(mutex_);
    auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    // First: who sees the flag sees the time that goes with it.
    if (paused) found->second->paused_since = Clock::now().time_since_epoch().count();
    found->second->paused = paused;
    nudged_ = true;
    wake_engine_.notify_one();
}

void Engine::close() {
    std::lock_guard closing(close_mutex_);
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
        wake_engine_.notify_all();
        wake_preparing_.notify_all();
    }
    if (preparing_.joinable()) preparing_.join();
    if (engine_.joinable()) engine_.join();
    if (writer_) writer_->close();
    decltype(by_id_) left;
    {
        // cancel() and set_paused() may still come.
        std::lock_guard lock(mutex_);
        left.swap(by_id_);
    }
    Bytes out;
    for (const auto & [id, job] : left) {
        if (!job->cancelled) write_error(id, {"closed", "the engine was closed"}, out);
    }
    free_memory();
    if (!channel_ || out.data().empty()) return;
    channel_->append(out.view());
    channel_->ring();
}

// Now, and not when JS collects the object that holds the engine: somebody may wait for the room.
void Engine::free_memory() {
    writer_.reset();
    rows_.reset();
    to_prepare_ = {};
    inbox_.clear();
    batch_.reset();
    tier_.reset();
    sequences_.reset();
    speculation_.reset();
    context_.reset();
    model_.reset();
}

void Engine::prepare_loop() {
    for (;;) {
        std::shared_ptr<Job> job;
        {
            std::unique_lock lock(mutex_);
            wake_preparing_.wait(lock, [this] { return closing_ || !to_prepare_.empty(); });
            if (closing_) return;
            job = to_prepare_.pop();
        }
        prepare(job);
    }
}

// Renders, tokenises and compiles; what fails here never reaches the engine thread.
void Engine::prepare(const std::shared_ptr<Job> & job) {
    auto status = catch_status([&] {
        if (job->cancelled) return;
        job->prompt = prepare_prompt(*model_, job->options, limits_.n_ctx_per_job);
        if (!job->options.sampling.seed) job->options.sampling.seed = std::random_device{}();
        for (int32_t i = 0; i < job->options.n; i++) {
            auto generation = std::make_unique<Generation>();
            generation->job = job.get();
            generation->choice = static_cast<uint8_t>(i);
            generation->tokens = job->prompt.tokens;
            job->generations.push_back(std::move(generation));
        }
        // Thousands may wait: what is quickly made is made when the job begins, and what was read is let go.
        if (is_slow_to_equip(*job)) equip(*job);
        // Moved out: a string that is assigned an empty one keeps its memory.
        auto & options = job->options;
        const auto read =
            std::tuple(std::move(options.prompt), std::move(options.media), std::move(options.json_schema),
                       std::move(options.grammar), std::move(job->prompt.text), std::move(job->prompt.grammar.text));
    });
    if (!status.code.empty()) {
        Bytes out;
        write_error(job->id, status, out);
        leave_queue(*job);
        forget(*job);
        channel_->append(out.view());
        channel_->ring();
        return;
    }
    std::lock_guard lock(mutex_);
    if (job->counted) {
        const uint64_t n_tokens = job->prompt.tokens.size() + QueueBound::tokens_of(n_bytes_of(job->options));
        queue_.recount(job->n_queued_tokens, n_tokens);
        job->n_queued_tokens = n_tokens;
    }
    inbox_.push_back(job);
    wake_engine_.notify_one();
}

// Gives the generations what samples and writes their answers. Throws StatusError invalid_grammar.
void Engine::equip(Job & job) const {
    auto stops = job.options.stop;
    stops.insert(stops.end(), job.prompt.stop.begin(), job.prompt.stop.end());
    for (auto & generation : job.generations) {
        if (generation->sampler) continue;
        generation->sampler = std::make_unique<Sampler>(*model_, job.options.sampling, job.options.logit_bias, job.prompt.grammar,
                                                        *job.options.sampling.seed + generation->choice);
        generation->sampler->accept_prompt(job.prompt.tokens);
        generation->answer = std::make_unique<Answer>(*model_, job.id, generation->choice, job.prompt.syntax, stops);
    }
}

void Engine::forget(const Job & job) {
    std::lock_guard lock(mutex_);
    by_id_.erase(job.id);
}

}  // namespace svc
