#include "preparation.h"

#include "../../common/memory_wait.h"
#include "../tuning/tuning.h"

#include <random>
#include <tuple>

namespace svc {

namespace {

// Grammars are compiled; biases, ignore_eos and DRY's breakers look at every token of the vocabulary.
bool are_samplers_slow(const Job & job) {
    const auto & sampling = job.options.sampling;
    return !job.prompt.grammar.text.empty() || !job.options.logit_bias.empty() || sampling.ignore_eos ||
           sampling.dry_multiplier > 0;
}

void add_generations(Job & job) {
    for (int32_t i = 0; i < job.options.n; i++) {
        auto generation = std::make_unique<Generation>();
        generation->job = &job;
        generation->choice = static_cast<uint8_t>(i);
        generation->tokens = job.prompt.tokens;
        job.generations.push_back(std::move(generation));
    }
}

bool is_slow(const Job & job) { return !job.options.media.empty() || job.n_queued_tokens > kTuning.quick_prompt_tokens; }

// Thousands may wait: what was read is let go. Moved out, since a string that is assigned an empty one keeps its memory.
void let_go(Job & job) {
    auto & options = job.options;
    const auto read = std::tuple(std::move(options.prompt), std::move(options.media), std::move(options.json_schema),
                                 std::move(options.grammar), std::move(job.prompt.text), std::move(job.prompt.grammar.text));
}

}  // namespace

void build_samplers(const Model & model, Job & job) {
    auto stops = job.options.stop;
    stops.insert(stops.end(), job.prompt.stop.begin(), job.prompt.stop.end());
    for (auto & generation : job.generations) {
        if (generation->sampler) continue;
        generation->sampler = std::make_unique<Sampler>(model, job.options.sampling, job.options.logit_bias, job.prompt.grammar,
                                                        *job.options.sampling.seed + generation->choice);
        generation->sampler->accept_prompt(job.prompt.tokens);
        generation->answer = std::make_unique<Answer>(model, job.id, generation->choice, job.prompt.syntax, stops);
    }
}

Preparation::Preparation(std::shared_ptr<const Model> model, uint32_t n_ctx, std::function<void(const Job &)> done,
                         std::function<void(const Job &, const Status &)> failed)
    : model_(std::move(model)), n_ctx_(n_ctx), done_(std::move(done)), failed_(std::move(failed)) {
    try {
        for (auto * lane : {&quick_, &slow_}) lane->thread = std::thread([this, lane] { run(*lane); });
    } catch (...) {
        close();
        throw;
    }
}

Preparation::~Preparation() { close(); }

void Preparation::push(Job job) {
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the engine is closed");
    auto & lane = is_slow(*job) ? slow_ : quick_;
    const auto & tenant = job->options.tenant;
    lane.waiting.push(tenant, 0, job);
    lane.changed.notify_one();
}

void Preparation::close() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
        for (auto * lane : {&quick_, &slow_}) lane->changed.notify_all();
    }
    for (auto * lane : {&quick_, &slow_}) {
        if (lane->thread.joinable()) lane->thread.join();
        lane->waiting = {};
    }
    model_.reset();
}

void Preparation::run(Lane & lane) {
    for (;;) {
        Job job;
        {
            std::unique_lock lock(mutex_);
            lane.changed.wait(lock, [&] { return closing_ || !lane.waiting.empty(); });
            if (closing_) return;
            const MemoryWait wait;
            job = lane.waiting.pop(1);
        }
        const auto status = catch_status([&] { prepare(*job); });
        if (status.code.empty()) done_(job);
        else failed_(job, status);
    }
}

void Preparation::prepare(svc::Job & job) const {
    if (job.cancelled) return;
    job.prompt = prepare_prompt(*model_, job.options, n_ctx_);
    if (!job.options.sampling.seed) job.options.sampling.seed = std::random_device{}();
    add_generations(job);
    // What is quickly made is made when the job begins.
    if (are_samplers_slow(job)) build_samplers(*model_, job);
    let_go(job);
}

}  // namespace svc
