#include "preparation.h"

#include "../../common/memory_wait.h"
#include "../grammar/grammar_budget.h"

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

size_t n_times(std::string_view text, std::string_view word) {
    size_t n = 0;
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) n++;
    return n;
}

// About so many: JSON as JSON.stringify() writes it has these words nowhere but in keys.
size_t n_messages_of(const PromptOptions & prompt) {
    return n_times(prompt.messages_json, "\"role\":") + n_times(prompt.messages_json, "\"type\":");
}

// All that is known before anything is read. Whatever else is slow leaves the quick thread when its time is over.
bool is_slow(const Job & job) {
    const auto & options = job.options;
    if (job.n_queued_tokens > kTuning.quick_prompt_tokens) return true;
    const size_t n_grammar_bytes = options.grammar.size() + options.json_schema.size() + options.tool_schemas.size() +
                                   options.prompt.tools_json.size() + options.prompt.template_kwargs_json.size();
    return !options.media.empty() || n_grammar_bytes > kTuning.quick_grammar_bytes ||
           n_messages_of(options.prompt) > kTuning.quick_messages;
}

// Thousands may wait: what was read is let go. Moved out, since a string that is assigned an empty one keeps its memory.
void let_go(Job & job) {
    auto & options = job.options;
    const auto read = std::tuple(std::move(options.prompt), std::move(options.media), std::move(options.json_schema),
                                 std::move(options.tool_schemas), std::move(options.grammar), std::move(job.prompt.text),
                                 std::move(job.prompt.grammar.text));
}

}  // namespace

void build_samplers(const Model & model, Job & job) {
    for (auto & generation : job.generations) {
        if (generation->sampler) continue;
        generation->sampler = std::make_unique<Sampler>(model, job.options.sampling, job.options.logit_bias, job.prompt.grammar,
                                                        *job.options.sampling.seed + generation->choice);
        generation->sampler->accept_prompt(job.prompt.tokens);
        generation->answer =
            std::make_unique<Answer>(model, job.id, generation->choice, job.prompt.syntax, job.options.stop, job.prompt.stop);
    }
}

Preparation::Preparation(std::shared_ptr<const Model> model, uint32_t n_ctx, std::function<void(const Job &)> done,
                         std::function<void(const Job &, const Status &)> failed)
    : model_(std::move(model)), bounds_(*model_), n_ctx_(n_ctx), done_(std::move(done)), failed_(std::move(failed)) {
    try {
        for (auto * lane : {&quick_, &slow_}) {
            for (size_t i = 0; i < lane->n_threads; i++) lane->threads.emplace_back([this, lane] { run(*lane); });
        }
    } catch (...) {
        close();
        throw;
    }
}

Preparation::~Preparation() { close(); }

void Preparation::push(Job job) { add(is_slow(*job) ? slow_ : quick_, job); }

void Preparation::add(Lane & lane, const Job & job) {
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the engine is closed");
    lane.waiting.push(job->options.tenant, 0, job);
    lane.changed.notify_one();
}

void Preparation::close() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
        for (auto * lane : {&quick_, &slow_}) lane->changed.notify_all();
    }
    for (auto * lane : {&quick_, &slow_}) {
        for (auto & thread : lane->threads) {
            if (thread.joinable()) thread.join();
        }
        lane->waiting = {};
    }
    model_.reset();
}

void Preparation::run(Lane & lane) {
    while (const auto job = take(lane)) {
        work_on(lane, job);
        leave(lane, *job);
    }
}

// Null where the engine is being closed.
Preparation::Job Preparation::take(Lane & lane) {
    Job job;
    std::unique_lock lock(mutex_);
    lane.changed.wait(lock, [&] { return closing_ || take_next(lane, job); });
    return job;
}

bool Preparation::take_next(Lane & lane, Job & job) {
    const MemoryWait wait;
    auto next = lane.waiting.pop(1, [&](const std::string & tenant) { return lane.tenants.count(tenant) == 0; });
    if (!next) return false;
    job = std::move(*next);
    lane.tenants.insert(job->options.tenant);
    return true;
}

void Preparation::leave(Lane & lane, const svc::Job & job) {
    std::lock_guard lock(mutex_);
    lane.tenants.erase(job.options.tenant);
    // Another job of the tenant may be all that a thread waits for.
    lane.changed.notify_all();
}

void Preparation::work_on(Lane & lane, const Job & job) {
    bool is_ready = false;
    const auto status = catch_status([&] {
        is_ready = prepare(*job, lane.compile_ms);
        if (is_ready) return;
        if (&lane == &quick_) add(slow_, job);
        else refuse_late_grammar();
    });
    if (!status.code.empty()) failed_(job, status);
    else if (is_ready) done_(job);
}

// False where its grammar, schema or tools need more time than that.
bool Preparation::prepare(svc::Job & job, double compile_ms) const {
    if (job.cancelled) return true;
    const GrammarBudget budget(GrammarBudget::Kind::Thread, compile_ms, &job.cancelled);
    try {
        job.prompt = prepare_prompt(*model_, job.options, n_ctx_);
        if (!job.options.sampling.seed) job.options.sampling.seed = std::random_device{}();
        bounds_.forbid_unasked_json(job.options);
        add_generations(job);
        // What is quickly made is made when the job begins.
        if (are_samplers_slow(job)) build_samplers(*model_, job);
    } catch (const GrammarLate &) {
        job.generations.clear();
        return job.cancelled;
    }
    let_go(job);
    return true;
}

}  // namespace svc
