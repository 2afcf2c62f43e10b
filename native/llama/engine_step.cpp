// One step: build the batch, decode it, sample, and hand tokens to the writer. KV pressure and endings are handled here too.
#include <algorithm>

#include "engine.h"
#include "mtmd-helper.h"

namespace svc {

bool Engine::step() {
    move_states();
    in_step_.clear();
    batch_->clear();
    fillers_.clear();
    for (auto * generation : generations_) {
        generation->batch_index = -1;
        generation->drafting.tokens.clear();
    }
    const auto * lora = choose_lora();
    if (!lora) return sequences_->copier().has_work();
    apply_loras(*lora);
    const std::string key = *lora;
    // Between two images, streams get a step.
    ran_media_ = !ran_media_ && run_media(key);
    if (ran_media_) return true;
    plan_decode(key);
    plan_prefill(key);
    if (in_step_.empty()) return run_media(key) || sequences_->copier().has_work();
    build_batch();
    decode();
    return true;
}

void Engine::apply_loras(const std::string & key) {
    if (key == lora_in_use_) return;
    std::vector<llama_adapter_lora *> adapters;
    std::vector<float> scales;
    for (const auto * generation : generations_) {
        if (generation->job->lora_key != key) continue;
        for (const auto & [name, scale] : generation->job->options.loras) {
            adapters.push_back(model_->loras().at(name));
            scales.push_back(scale);
        }
        break;
    }
    llama_set_adapters_lora(context_.get(), adapters.data(), adapters.size(), scales.data());
    lora_in_use_ = key;
}

// Evaluates the image that a prompt has come to. False: none has.
bool Engine::run_media(const std::string & lora) {
    for (auto * generation : std::vector<Generation *>(generations_)) {
        if (generation->state == Generation::State::Prefill && generation->job->lora_key == lora && run_media(*generation))
            return true;
    }
    return false;
}

bool Engine::run_media(Generation & generation) {
    auto & sequence = *generation.sequence;
    const size_t at = sequence.tokens.size();
    if (at >= generation.tokens.size() || generation.tokens[at] != LLAMA_TOKEN_NULL) return false;
    for (const auto & media : generation.job->prompt.media) {
        if (media.begin != at) continue;
        if (!sequences_->free_cells(media.n_tokens)) {
            relieve();
            return true;
        }
        llama_pos n_pos = sequence.n_pos;
        const ComputeTurn turn(*compute_);
        const int32_t result =
            mtmd_helper_eval_chunk_single(model_->projector(), context_.get(), media.chunk.get(), sequence.n_pos, sequence.id,
                                          static_cast<int32_t>(llama_n_batch(context_.get())), false, &n_pos);
        if (result != 0) {
            fail(*generation.job, {"invalid_media", "an image could not be evaluated"});
            return true;
        }
        const std::vector<llama_token> placeholders(media.n_tokens, LLAMA_TOKEN_NULL);
        sequences_->append(sequence, placeholders.data(), placeholders.size(), n_pos);
        return true;
    }
    fail(*generation.job, {"internal", "a media placeholder has no media"});
    return true;
}

void Engine::choose_threads() {
    if (!threads_) return;
    const int32_t n = threads_->n_threads();
    llama_set_n_threads(context_.get(), n, n < limits_.n_threads ? std::min(n, n_batch_threads_) : n_batch_threads_);
}

void Engine::decode() {
    choose_threads();
    std::optional<ComputeTurn> turn(*compute_);
    const auto begin = Clock::now();
    const int32_t result = llama_decode(context_.get(), batch_->raw());
    llama_synchronize(context_.get());
    turn.reset();
    if (result == 1) {
        if (!speculation_ || !speculation_->drop()) relieve();
        return;
    }
    if (result != 0) throw StatusError("internal", "llama_decode failed with " + std::to_string(result));
    const double step_ms = ms_between(begin, Clock::now());
    for (auto id : fillers_) sequences_->clear_filler(id);
    uint32_t n_decoding = 0;
    uint32_t n_prefill = 0;
    double depth = 0;  // of the prompts' rows, all together
    for (const auto * generation : in_step_) {
        if (generation->state == Generation::State::Decode) {
            n_decoding++;
            continue;
        }
        n_prefill += generation->n_planned;
        depth += generation->n_planned * (static_cast<double>(generation->sequence->tokens.size()) + generation->n_planned / 2.0);
    }
    budget_->observe(step_ms, n_decoding, n_prefill, n_prefill > 0 ? depth / n_prefill : 0);
    if (threads_) threads_->observe(step_ms, n_prefill > 0 ? 0 : static_cast<uint32_t>(batch_->size()), Clock::now());
    stats_.n_steps++;
    stats_.last_step_ms = static_cast<float>(step_ms);
    stats_.n_prompt_tokens += n_prefill;
    sequences_->decoded();
    const uint64_t n_before = stats_.n_completion_tokens;
    commit_step();
    sample();
    // A step with prompts says little about decoding alone.
    if (!speculation_ || n_prefill > 0) return;
    speculation_->observe(static_cast<uint32_t>(stats_.n_completion_tokens - n_before), ms_between(begin, Clock::now()));
}

// No cells for this batch: forget a cached prefix, or else take the cells of one whose client does not read, or of the youngest.
void Engine::relieve() {
    if (sequences_->evict()) return;
    if (leaving_) {
        preempt(*leaving_);
        return;
    }
    auto * youngest = youngest_active();
    if (n_active() > 1) {
        if (!set_sleeper_aside()) preempt(*youngest);
        return;
    }
    // Alone and still too large: the context is full.
    if (!youngest) throw StatusError("internal", "the KV cache is full and nobody uses it");
    finish(*youngest, Finish::Length);
}

// The generation goes back to waiting. When there is room, what was not saved of it is evaluated again.
void Engine::preempt(Generation & generation) {
    generation.sequence->shareable = false;
    release(generation);
    generation.state = Generation::State::Waiting;
    holding_ = true;
}

// The generation lets somebody else go first. What it computed stays in the cache until that is needed, and is saved then.
void Engine::step_back(Generation & generation) {
    release(generation);
    generation.state = Generation::State::Waiting;
}

// What the batch held now lies in the cache. Drafted tokens count when they have turned out right: settle().
void Engine::commit_step() {
    const auto & raw = batch_->raw();
    for (int32_t i = 0; i < raw.n_tokens;) {
        int32_t end = i + 1;
        while (end < raw.n_tokens && raw.seq_id[end][0] == raw.seq_id[i][0]) end++;
        for (auto * generation : in_step_) {
            if (generation->sequence->id != raw.seq_id[i][0]) continue;
            const int32_t last = end - 1 - static_cast<int32_t>(generation->drafting.tokens.size());
            sequences_->append(*generation->sequence, raw.token + i, static_cast<size_t>(last + 1 - i), raw.pos[last] + 1);
            if (generation->n_remaining_prefill() == 0) running_prompts_.withdraw(*generation);
        }
        i = end;
    }
}

// Rows are sampled by several threads: none touches the context or another generation.
void Engine::sample() {
    struct Rows {
        Generation * generation;
        std::vector<const float *> logits;
        std::vector<SampledRow> sampled;
        Status status;
    };
    std::vector<Rows> all;
    for (auto * generation : in_step_) {
        if (generation->batch_index < 0) continue;
        auto & rows = all.emplace_back();
        rows.generation = generation;
        // llama.cpp puts its rows in order at the first of these calls: not for several threads.
        for (size_t i = 0; i <= generation->drafting.tokens.size(); i++)
            rows.logits.push_back(llama_get_logits_ith(context_.get(), generation->batch_index + static_cast<int32_t>(i)));
    }
    rows_->run(all.size(), [&](size_t i) {
        auto & rows = all[i];
        rows.status = catch_status([&] { rows.sampled = sample(*rows.generation, rows.logits); });
    });
    // Before anything ends: a sequence must not be left with tokens that were not right.
    for (auto & rows : all) settle(*rows.generation, rows.sampled.empty() ? 0 : rows.sampled.size() - 1);
    const auto now = Clock::now();
    for (auto & rows : all) {
        auto & job = *rows.generation->job;
        if (job.first_token == Clock::time_point{}) job.first_token = now;
        for (auto & row : rows.sampled) {
            // A choice that failed took its siblings along.
            if (rows.generation->state != Generation::State::Finished) advance(*rows.generation, std::move(row));
        }
        if (!rows.status.code.empty() && rows.generation->state != Generation::State::Finished) fail(job, rows.status);
    }
}

// Draws from the rows in order for as long as the drafted tokens are those that are drawn.
std::vector<SampledRow> Engine::sample(Generation & generation, const std::vector<const float *> & logits) const {
    std::vector<SampledRow> sampled;
    const auto & drafted = generation.drafting.tokens;
    for (size_t i = 0; i < logits.size(); i++) {
        sampled.push_back(sample(generation, logits[i]));
        const auto token = sampled.back().token;
        if (i < drafted.size() && (token != drafted[i] || llama_vocab_is_eog(model_->vocab(), token))) break;
    }
    return sampled;
}

SampledRow Engine::sample(Generation & generation, const float * logits) const {
    if (!logits) throw StatusError("internal", "a decoded token has no logits");
    SampledRow row;
    row.token = generation.sampler->sample(logits);
    const int32_t n_top = generation.job->options.top_logprobs;
    if (n_top < 0 || llama_vocab_is_eog(model_->vocab(), row.token)) return row;
    row.logprobs.emplace();
    row.logprobs->chosen = {row.token, log_probability(logits, model_->n_vocab(), row.token, n_top, row.logprobs->top)};
    return row;
}

// Keeps the drafted tokens that were right in the sequence and drops the others.
void Engine::settle(Generation & generation, size_t n_accepted) {
    auto & drafting = generation.drafting;
    if (drafting.tokens.empty()) return;
    auto & sequence = *generation.sequence;
    sequences_->append(sequence, drafting.tokens.data(), n_accepted, sequence.n_pos + static_cast<llama_pos>(n_accepted));
    if (n_accepted < drafting.tokens.size()) sequences_->drop_unrecorded(sequence);
    speculation_->judge(drafting, n_accepted);
    drafting.n_drafted += static_cast<uint32_t>(drafting.tokens.size());
    drafting.n_accepted += static_cast<uint32_t>(n_accepted);
    stats_.n_drafted_tokens += drafting.tokens.size();
    stats_.n_accepted_tokens += n_accepted;
    drafting.tokens.clear();
}

// Takes the sampled token in and decides whether the generation goes on. What its text decides comes from the writer.
void Engine::advance(Generation & generation, SampledRow row) {
    const auto & options = generation.job->options;
    generation.n_generated++;
    stats_.n_completion_tokens++;
    if (llama_vocab_is_eog(model_->vocab(), row.token)) return finish(generation, Finish::Stop);
    writer_->add(generation, row.token, std::move(row.logprobs));
    if (options.max_tokens > 0 && generation.n_generated >= options.max_tokens) return finish(generation, Finish::Length);
    if (generation.tokens.size() + 1 >= limits_.n_ctx_per_job) return finish(generation, Finish::Length);
    generation.next = row.token;
    generation.tokens.push_back(row.token);
    generation.state = Generation::State::Decode;
}

void Engine::finish(Generation & generation, Finish reason) {
    writer_->finish(generation, reason);
    release(generation);
    generation.state = Generation::State::Finished;
    auto & job = *generation.job;
    const bool done = std::all_of(job.generations.begin(), job.generations.end(),
                                  [](const auto & g) { return g->state == Generation::State::Finished; });
    if (!done) return;
    job.finished = Clock::now();
    writer_->done(job);
    stats_.n_cached_tokens += job.n_cached;
    drain_rate_.job_done(ms_between(job.admitted, job.finished) / 1000);
    finish_job(job);
}

void Engine::fail(Job & job, const Status & status) {
    if (!job.cancelled) writer_->fail(job, status);
    finish_job(job);
}

// Takes the job out of the engine, whatever state its generations are in.
void Engine::finish_job(Job & job) {
    for (auto & generation : job.generations) {
        if (generation->active()) release(*generation);
        generation->state = Generation::State::Finished;
    }
    const auto held = waiting_.remove(job.id);
    leave_queue(job);
    if (job.started) {
        uint32_t n_generated = 0;
        for (const auto & generation : job.generations) n_generated += static_cast<uint32_t>(generation->n_generated);
        waiting_.settle(job, n_generated);
        job.started = false;
    }
    generations_.erase(
        std::remove_if(generations_.begin(), generations_.end(), [&](const Generation * g) { return g->job == &job; }),
        generations_.end());
    in_step_.erase(std::remove_if(in_step_.begin(), in_step_.end(), [&](const Generation * g) { return g->job == &job; }),
                   in_step_.end());
    forget(job);
    jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), [&](const auto & held) { return held.get() == &job; }), jobs_.end());
}

void Engine::release(Generation & generation) {
    running_prompts_.withdraw(generation);
    if (leaving_ == &generation) leaving_ = nullptr;
    if (!generation.sequence) return;
    sequences_->release(*generation.sequence);
    sequences_->trim();
    generation.sequence = nullptr;
    holding_ = false;
}

// Lets the step's answers out and refreshes the figures.
void Engine::publish() {
    writer_->publish();
    const uint32_t n_running = n_active();
    stats_.n_active = n_running;
    drain_rate_.step(Clock::now(), !waiting_.empty() || n_running >= limits_.n_parallel);
    queue_.set_rate(drain_rate_.per_second(limits_.n_parallel));
    stats_.n_cells_used = sequences_->n_used();
    if (!tier_) return;
    stats_.n_tier_memory_bytes = tier_->memory_bytes();
    stats_.n_tier_disk_bytes = tier_->disk_bytes();
}

}  // namespace svc
