#include "step_loop.h"

#include <algorithm>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../model/device_fault.h"
#include "../tuning/tuning.h"

namespace svc {

StepLoop::StepLoop(const Parts & parts)
    : parts_(parts),
      bounds_(parts.model),
      scheduler_(parts.model, parts.limits, parts.kv, parts.inbox, parts.writer, parts.stats),
      sampler_(parts.model, parts.context, static_cast<uint32_t>(std::clamp(parts.limits.n_threads, 1, kTuning.helping_threads))),
      late_rows_([this](Generation & generation, const float * logits) { return sampler_.sample(generation, logits); },
                 [this] { parts_.inbox.notify(); }, [this] { parts_.model.grammars().free_retired(); }) {}

void StepLoop::run() {
    const DeviceFaultScope scope;
    warm_up();
    for (;;) {
        using Wait = JobInbox::Wait;
        auto news = parts_.inbox.take(scheduler_.is_idle() ? Wait::Long : is_stalled_ ? Wait::Briefly : Wait::Not);
        if (news.is_closing) break;
        scheduler_.take(news);
        take_late_rows();
        guarded_step();
        publish();
    }
    with_memory([this] { scheduler_.fail_all({"closed", "the engine was closed"}); });
    publish();
}

// What cannot be warmed up is slow at first, or fails with the first step.
void StepLoop::warm_up() {
    const auto status = catch_status([this] {
        parts_.decoder.warm_up();
        if (!parts_.speculation) return;
        const CoreGrant grant(parts_.decoder.compute());
        parts_.speculation->warm_up();
    });
    const MemoryWait wait;
    if (status.code == kDeviceFailed) fail_on_device(status);
    else if (!status.code.empty()) tell("the engine could not be warmed up: " + status.text);
}

// What a step throws hurts the jobs that are in it, also those that were admitted for it. Nobody knows how far it came, so none
// of their states is used again.
void StepLoop::guarded_step() {
    if (!device_fault_.code.empty()) return scheduler_.fail_all(device_fault_);
    auto status = catch_status([this] { scheduler_.admit_between_steps(); });
    // A job that ends inside the step stays valid until the step is over.
    const auto alive = with_memory([this] { return scheduler_.running().jobs(); });
    if (status.code.empty()) status = catch_status([this] { is_stalled_ = !step(); });
    if (status.code.empty()) return;
    const MemoryWait wait;
    is_stalled_ = false;
    if (status.code == kDeviceFailed) return fail_on_device(status);
    clear_padding();
    for (auto & job : alive) {
        for (auto & generation : job->generations) {
            if (generation->sequence) generation->sequence->shareable = false;
        }
    }
    for (auto & job : alive) {
        if (!job->over) scheduler_.fail(*job, status);
    }
}

// Nothing of the context is touched any more: jobs end with the reason, those too that come before the model is unloaded.
void StepLoop::fail_on_device(const Status & why) {
    const MemoryWait wait;
    device_fault_ = why;
    parts_.stats.device_failed = true;
    scheduler_.fail_all(why);
}

// One decode. False when nothing could be done: all are paused, or wait for cells.
bool StepLoop::step() {
    clear_step();
    const auto state = with_memory([this] { return state_of_step(); });
    const auto turn = with_memory([&] { return choose_turn(state); });
    if (turn.is_empty) return parts_.kv.is_copying();
    scheduler_.take_turn(turn.adapters);
    parts_.decoder.use_adapters(*candidates_[turn.decoding.empty() ? turn.prefilling.front() : turn.decoding.front()]);
    was_image_ = turn.image.has_value();
    if (turn.image) {
        evaluate_image(*candidates_[*turn.image]);
        return true;
    }
    choose_drafts(turn);
    const auto plan = with_memory([&] { return plan_of(state, turn); });
    in_burst_ = plan.in_burst;
    if (plan.rows.empty()) {
        if (turn.image_instead) evaluate_image(*candidates_[*turn.image_instead]);
        return turn.image_instead || parts_.kv.is_copying();
    }
    build_batch(plan);
    evaluate();
    return true;
}

StepPlan StepLoop::plan_of(const StepState & state, const StepTurn & turn) const {
    std::vector<uint32_t> n_rows;
    for (const auto * generation : in_step_) n_rows.push_back(generation->n_planned);
    const auto & sequences = parts_.kv.sequences();
    return plan_step(state, turn, n_rows, parts_.estimates,
                     [&](llama_seq_id from, llama_seq_id to) { return sequences.can_fill(from, to); });
}

void StepLoop::clear_step() {
    const MemoryWait wait;
    in_step_.clear();
    candidates_.clear();
    parts_.decoder.clear();
    for (auto * generation : scheduler_.running().generations()) {
        generation->batch_index = -1;
        generation->drafting.tokens.clear();
        if (generation->can_go_on()) candidates_.push_back(generation);
    }
}

StepState StepLoop::state_of_step() {
    StepState state;
    state.n_batch_rows = parts_.decoder.n_batch_rows();
    state.n_physical_rows = parts_.decoder.n_physical_rows();
    state.is_contended = parts_.decoder.compute().is_contended();
    state.is_unified = parts_.kv.sequences().is_kv_unified();
    state.was_image = was_image_;
    state.in_burst = in_burst_;
    auto n_running = scheduler_.running().count_by_tenant();
    for (const auto * generation : candidates_) {
        const auto & job = *generation->job;
        auto & candidate = state.candidates.emplace_back();
        candidate.is_prefilling = generation->state == Generation::State::Prefill;
        candidate.is_suspect = generation->n_failures > 0;
        candidate.sequence = generation->sequence->id;
        candidate.adapters = job.lora_key;
        candidate.last_turn = generation->last_turn;
        if (!candidate.is_prefilling) continue;
        const size_t depth = generation->sequence->tokens.size();
        const auto begin = generation->tokens.begin() + static_cast<std::ptrdiff_t>(depth);
        // Up to the prompt's end, or to an image.
        const auto n_left = static_cast<size_t>(std::find(begin, generation->tokens.end(), LLAMA_TOKEN_NULL) - begin);
        candidate.is_at_image = n_left == 0 && begin != generation->tokens.end();
        candidate.prompt = {n_left, depth, static_cast<double>(parts_.stats.n_prompt_tokens - job.n_evaluated_before),
                            static_cast<uint32_t>(n_running[job.options.tenant] - 1)};
    }
    return state;
}

// Those that decode come into the step, with the rows of what is drafted for them.
void StepLoop::choose_drafts(const StepTurn & turn) {
    for (const size_t i : turn.decoding) {
        candidates_[i]->n_planned = 1;
        with_memory([&] { in_step_.push_back(candidates_[i]); });
    }
    if (!parts_.speculation) return;
    const auto & sequences = parts_.kv.sequences();
    parts_.speculation->plan(
        in_step_, [&](llama_seq_id from, llama_seq_id to) { return sequences.can_fill(from, to); }, parts_.decoder.compute());
}

void StepLoop::build_batch(const StepPlan & plan) {
    const MemoryWait wait;
    in_step_.clear();
    for (const auto & planned : plan.rows) {
        auto & generation = *candidates_[planned.candidate];
        const auto id = generation.sequence->id;
        for (auto padded = id - static_cast<llama_seq_id>(planned.n_padding); padded < id; padded++) {
            parts_.decoder.add_padding(padded, parts_.kv.sequences().padding_pos(padded));
            padded_.push_back(padded);
        }
        generation.n_planned = planned.n_rows;
        in_step_.push_back(&generation);
        parts_.decoder.add(generation);
    }
}

void StepLoop::evaluate() {
    const auto result = parts_.decoder.evaluate();
    const auto evaluated = Clock::now();
    if (result.why.code == kDeviceFailed) return fail_on_device(result.why);
    clear_padding();
    if (result.kind == Decoder::Result::Kind::NoCells) {
        if (!parts_.speculation || !parts_.speculation->drop()) scheduler_.free_kv_cells();
        return;
    }
    if (result.kind == Decoder::Result::Kind::Failed) return roll_back(result.why);
    for (auto * generation : in_step_) generation->n_failures = 0;
    const uint64_t n_prompt_before = parts_.stats.n_prompt_tokens;
    const uint64_t n_before = parts_.stats.n_completion_tokens;
    observe(result.ms);
    commit();
    sample();
    // A step with prompts says little about decoding alone.
    if (!parts_.speculation || parts_.stats.n_prompt_tokens > n_prompt_before) return;
    const MemoryWait wait;
    parts_.speculation->observe(static_cast<uint32_t>(parts_.stats.n_completion_tokens - n_before),
                                result.ms + ms_between(evaluated, Clock::now()));
}

// The rows that filled gaps are of no sequence.
void StepLoop::clear_padding() {
    for (auto id : padded_) parts_.kv.sequences().clear_padding(id);
    padded_.clear();
}

// What the step took tells what steps cost.
void StepLoop::observe(double ms) {
    const MemoryWait wait;
    StepEstimates::Step step{ms, 0, 0, 0};
    double depth = 0;  // of the prompts' rows, all together
    for (const auto * generation : in_step_) {
        if (generation->state == Generation::State::Decode) {
            step.n_decoding++;
            continue;
        }
        const double n_rows = generation->n_planned;
        step.n_prefill += generation->n_planned;
        depth += n_rows * (static_cast<double>(generation->sequence->tokens.size()) + n_rows / 2);
    }
    if (step.n_prefill > 0) step.depth = depth / step.n_prefill;
    parts_.estimates.observe(step);
    if (step.n_prefill > 0) parts_.decoder.observe_prompt_step(ms);
    else parts_.decoder.observe_plain_step(ms);
    parts_.stats.n_steps++;
    parts_.stats.last_step_ms = static_cast<float>(ms);
    parts_.stats.n_prompt_tokens += step.n_prefill;
}

void StepLoop::evaluate_image(Generation & generation) {
    auto & sequence = *generation.sequence;
    const auto & media = generation.job->prompt.media;
    const auto image =
        std::find_if(media.begin(), media.end(), [&](const auto & one) { return one.begin == sequence.tokens.size(); });
    if (image == media.end()) return scheduler_.fail(*generation.job, {"internal", "a media placeholder has no media"});
    if (!parts_.kv.sequences().free_cells(image->n_tokens)) return scheduler_.free_kv_cells();
    with_memory([&] { in_step_.assign(1, &generation); });
    generation.n_planned = static_cast<uint32_t>(image->n_tokens);
    llama_pos n_pos = 0;
    const auto result = parts_.decoder.evaluate_image(*image, sequence, n_pos);
    if (result.kind == Decoder::Result::Kind::Failed) return roll_back(result.why);
    generation.n_failures = 0;
    const MemoryWait wait;
    const std::vector<llama_token> placeholders(image->n_tokens, LLAMA_TOKEN_NULL);
    parts_.kv.sequences().append(sequence, placeholders.data(), placeholders.size(), n_pos);
}

// The step failed, and llama.cpp keeps those of its physical batches that went through. They are taken out of every sequence that
// they are in: what is decoded next would not follow on them, nor would a prompt that shares such a sequence.
//
// Nobody knows whose rows a failure came from, if from anybody's. So each tries again by itself (choose_turn): one that fails
// alone, several times, is the one, and the others go on as if nothing had been.
void StepLoop::roll_back(const Status & why) {
    const MemoryWait wait;
    if (why.code == kDeviceFailed) return fail_on_device(why);
    for (auto * generation : in_step_) {
        if (!parts_.kv.sequences().roll_back(*generation->sequence, generation->n_planned)) scheduler_.restart(*generation);
        generation->n_failures++;
    }
    auto & first = *in_step_.front();
    if (in_step_.size() == 1 && first.n_failures > kTuning.most_failures) scheduler_.fail(*first.job, why);
}

// What the batch held now lies in the cache. Drafted tokens count when they have turned out right: verify().
void StepLoop::commit() {
    const MemoryWait wait;
    const auto & raw = parts_.decoder.batch().raw();
    for (auto * generation : in_step_) {
        const size_t count = generation->n_planned - generation->drafting.tokens.size();
        const auto last = static_cast<size_t>(generation->first_row) + count - 1;
        parts_.kv.append(*generation, raw.token + generation->first_row, count, raw.pos[last] + 1);
    }
}

void StepLoop::sample() {
    auto all = sampler_.sample(in_step_);
    const MemoryWait wait;
    // This comes before anything ends: a sequence must not be left with tokens that were not right. No row has judged what is
    // late.
    for (auto & drawn : all) verify(*drawn.generation, drawn.rows.size() - (drawn.late || drawn.rows.empty() ? 0 : 1));
    const auto now = Clock::now();
    for (auto & drawn : all) {
        auto & generation = *drawn.generation;
        auto & job = *generation.job;
        if (job.first_token == Clock::time_point{} && !drawn.rows.empty()) job.first_token = now;
        for (auto & row : drawn.rows) {
            // A choice that failed took its siblings along.
            if (generation.state != Generation::State::Finished) advance(generation, std::move(row));
        }
        if (generation.state == Generation::State::Finished) continue;
        if (!drawn.status.code.empty()) scheduler_.fail(job, drawn.status);
        else if (drawn.late) sample_outside(generation, drawn.late);
    }
}

// The sequence waits until take_late_rows() has the token of this row.
void StepLoop::sample_outside(Generation & generation, const float * logits) {
    const auto status = catch_status([&] {
        late_rows_.add(generation, {logits, logits + parts_.model.n_vocab()});
        generation.state = Generation::State::Sampling;
        generation.is_sampling = true;
        parts_.stats.n_late_rows++;
    });
    if (!status.code.empty()) scheduler_.fail(*generation.job, status);
}

void StepLoop::take_late_rows() {
    const MemoryWait wait;
    for (auto & result : late_rows_.take_results()) {
        auto & generation = *result.generation;
        auto & job = *result.job;
        if (generation.state == Generation::State::Finished) continue;
        generation.is_sampling = false;
        generation.pace.took_outside(result.ms);
        if (!result.status.code.empty()) {
            scheduler_.fail(job, result.status);
            continue;
        }
        if (job.first_token == Clock::time_point{}) job.first_token = Clock::now();
        const auto state = generation.state;
        advance(generation, std::move(result.row));
        // It may have lost its sequence meanwhile.
        if (generation.state == Generation::State::Decode && state != Generation::State::Sampling) generation.state = state;
    }
}

// Keeps the drafted tokens that were right in the sequence and drops the others.
void StepLoop::verify(Generation & generation, size_t n_accepted) {
    auto & drafting = generation.drafting;
    if (drafting.tokens.empty()) return;
    auto & sequence = *generation.sequence;
    auto & sequences = parts_.kv.sequences();
    sequences.append(sequence, drafting.tokens.data(), n_accepted, sequence.n_pos + static_cast<llama_pos>(n_accepted));
    if (n_accepted < drafting.tokens.size()) sequences.drop_unrecorded(sequence);
    parts_.speculation->judge(drafting, n_accepted);
    drafting.n_drafted += static_cast<uint32_t>(drafting.tokens.size());
    drafting.n_accepted += static_cast<uint32_t>(n_accepted);
    parts_.stats.n_drafted_tokens += drafting.tokens.size();
    parts_.stats.n_accepted_tokens += n_accepted;
    drafting.tokens.clear();
}

// Takes the sampled token in and decides whether the generation goes on. What its text decides comes from the writer.
void StepLoop::advance(Generation & generation, SampledRow row) {
    const auto & options = generation.job->options;
    generation.n_generated++;
    parts_.stats.n_completion_tokens++;
    if (llama_vocab_is_eog(parts_.model.vocab(), row.token)) return scheduler_.finish(generation, Finish::Stop);
    parts_.writer.add(generation, row.token, std::move(row.logprobs));
    const bool is_long = options.max_tokens > 0 && generation.n_generated >= options.max_tokens;
    if (is_long || generation.tokens.size() + 1 >= parts_.limits.n_ctx_per_job)
        return scheduler_.finish(generation, Finish::Length);
    generation.next = row.token;
    generation.tokens.push_back(row.token);
    // What must be of a form is not ended before it is, and looks cut off where it goes on to its limit.
    const bool is_bound = options.sampling.ignore_eos || generation.sampler->is_bound();
    if (!is_bound && bounds_.repeats_itself(generation.tokens, generation.n_generated))
        return scheduler_.finish(generation, Finish::Stop);
    generation.state = Generation::State::Decode;
}

// Tells JS what belongs to no job.
void StepLoop::tell(const std::string & io_error) {
    Bytes out;
    write_error(kNoJob, {"internal", io_error}, out);
    parts_.channel.send(out.view());
}

// Lets the step's answers out and refreshes the figures.
void StepLoop::publish() {
    if (const auto io_error = parts_.kv.take_io_error(); !io_error.empty()) with_memory([&] { tell(io_error); });
    parts_.writer.publish();
    const MemoryWait wait;
    scheduler_.publish();
    parts_.kv.publish(parts_.stats);
    if (parts_.speculation) parts_.speculation->publish(parts_.stats);
    publish_beliefs();
}

void StepLoop::publish_beliefs() {
    auto & stats = parts_.stats;
    stats.decode_step_ms = static_cast<float>(parts_.estimates.decode_ms());
    stats.prefill_token_ms = static_cast<float>(parts_.estimates.row_ms(0));
    stats.prefill_token_depth_ms = static_cast<float>(parts_.estimates.depth_ms());
    const auto [n_threads, contention] = parts_.decoder.compute_use();
    stats.n_compute_threads = n_threads;
    stats.compute_poll_us = static_cast<float>(contention.poll_us);
    stats.compute_queued_share = static_cast<float>(contention.queued_share);
}

}  // namespace svc
