#include "scheduler.h"

#include <algorithm>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../tuning/tuning.h"
#include "preparation.h"

namespace svc {

Scheduler::Scheduler(const Model & model, const EngineLimits & limits, KvCache & kv, JobInbox & inbox, AnswerWriter & writer,
                     EngineStats & stats)
    : model_(model), limits_(limits), kv_(kv), inbox_(inbox), writer_(writer), stats_(stats), preemption_(running_, kv) {}

void Scheduler::take(JobInbox::News & news) {
    const MemoryWait wait;
    for (auto & job : news.ready) waiting_.push(std::move(job));
    drop_cancelled(news.cancelled);
    end_written();
    expire();
}

void Scheduler::drop_cancelled(const std::vector<uint32_t> & ids) {
    if (ids.empty()) return;
    for (auto id : ids) {
        if (auto job = waiting_.remove(id)) end(*job);
    }
    const auto jobs = running_.jobs();
    for (const auto & job : jobs) {
        if (job->cancelled) end(*job);
    }
}

void Scheduler::end_written() {
    std::vector<std::shared_ptr<Job>> over;  // to end one changes running_
    auto has_ended = [](const auto & generation) {
        return generation->ended && generation->state != Generation::State::Finished;
    };
    for (const auto & job : running_.jobs()) {
        const auto & all = job->generations;
        if (job->broken || std::any_of(all.begin(), all.end(), has_ended)) over.push_back(job);
    }
    for (const auto & job : over) {
        if (job->broken) {
            end(*job);
            continue;
        }
        for (auto & generation : job->generations) {
            if (has_ended(generation)) finish(*generation, Finish::Stop);
        }
    }
}

void Scheduler::expire() {
    const auto now = Clock::now();
    auto expired = waiting_.take_expired(now);
    for (auto & job : running_.jobs()) {
        if (now >= job->deadline) expired.push_back(job);
    }
    for (auto & job : expired) fail(*job, {"deadline_exceeded", "the request's time limit has passed"});
}

void Scheduler::admit_between_steps() {
    const auto until = Clock::now() + copy_slice();
    kv_.poll();
    preemption_.swap_out_early();
    kv_.save_next();
    copy(until);
    for (auto * generation : running_.generations()) {
        if (generation->state == Generation::State::WaitingForPrefix) kv_.resume_waiting(*generation);
    }
    admit();
    copy(until);
}

// How long the copying between two steps may take.
Clock::duration Scheduler::copy_slice() const {
    using State = Generation::State;
    const auto & all = running_.generations();
    const bool computes = std::any_of(all.begin(), all.end(),
                                      [](const auto * g) { return g->state == State::Prefill || g->state == State::Decode; });
    const bool is_awaited = !waiting_.empty() || std::any_of(all.begin(), all.end(), [](const auto * g) {
        return g->state == State::SwappingIn || g->state == State::Waiting;
    });
    if (is_awaited) return computes ? kTuning.awaited_copy_slice : kTuning.idle_awaited_copy_slice;
    return computes ? kTuning.copy_slice : kTuning.idle_copy_slice;
}

void Scheduler::copy(Clock::time_point until) {
    if (!kv_.is_copying()) return;
    kv_.copy(until);
    for (auto * generation : running_.generations()) {
        if (generation->state == Generation::State::SwappingIn && !generation->sequence->filling)
            generation->state = Generation::State::Prefill;
    }
}

void Scheduler::admit() {
    if (preemption_.is_holding() && !preemption_.preempt_slow_reader()) return;
    while (auto * generation = next_waiting()) {
        if (running_.n_active() >= limits_.n_parallel || kv_.sequences().n_idle() == 0) {
            if (!preemption_.preempt_for(*generation->job, waiting_)) return;
        }
        // While a state is being saved there will be cells in a moment.
        if (!admit(*generation) && (kv_.sequences().is_saving() || !preemption_.preempt_slow_reader())) return;
    }
}

// The first of those that wait, unless one of a job that began already comes before it.
Generation * Scheduler::next_waiting() {
    Generation * best = nullptr;
    auto * candidate = waiting_.front([this](Job & job) { return !kv_.is_fetching(*job.generations.front()); });
    if (candidate) best = candidate->generations.front().get();
    for (auto * generation : running_.generations()) {
        if (generation->state != Generation::State::Waiting || generation->job->paused || kv_.is_fetching(*generation)) continue;
        if (generation->is_sampling) continue;  // what it goes on with is not known yet
        if (!best) {
            best = generation;
            continue;
        }
        const auto & a = generation->job->options;
        const auto & b = best->job->options;
        const bool is_new = best->job == candidate;
        if (a.priority > b.priority || (a.priority == b.priority && is_new && !waiting_.is_behind(b.tenant, a.tenant)))
            best = generation;
    }
    return best;
}

// False: it has to wait, and so have all that come after it. What is thrown hurts its job alone.
bool Scheduler::admit(Generation & generation) {
    const auto job = generation.job->shared_from_this();
    bool is_admitted = true;
    const auto status = catch_status([&] { is_admitted = try_admit(generation); });
    if (!status.code.empty()) fail(*job, status);
    return is_admitted;
}

bool Scheduler::try_admit(Generation & generation) {
    const auto prefix = kv_.find_prefix(generation);
    if (!kv_.has_capacity(generation, prefix, running_.n_active())) return false;
    if (kv_.fetch(generation, prefix)) return true;
    if (!kv_.place(generation, prefix)) return false;
    if (!generation.job->started) begin(*generation.job);
    return true;
}

// The job is no longer one that waits.
void Scheduler::begin(Job & job) {
    build_samplers(model_, job);
    const MemoryWait wait;
    job.started = true;
    job.admitted = Clock::now();
    job.n_evaluated_before = stats_.n_prompt_tokens;
    inbox_.leave_queue(job);
    waiting_.charge(job);
    for (auto & generation : job.generations) generation->last_turn = n_turns_;
    running_.add(waiting_.remove(job.id));
    writer_.start(job);
}

void Scheduler::take_turn(std::string_view adapters) {
    const MemoryWait wait;
    n_turns_++;
    for (auto * generation : running_.generations()) {
        if (generation->job->lora_key == adapters) generation->last_turn = n_turns_;
    }
}

void Scheduler::free_kv_cells() {
    if (auto * too_large = preemption_.free_kv_cells()) finish(*too_large, Finish::Length);
}

void Scheduler::restart(Generation & generation) {
    const MemoryWait wait;
    preemption_.release(generation);
    generation.state = Generation::State::Waiting;
}

void Scheduler::finish(Generation & generation, Finish reason) {
    const MemoryWait wait;
    writer_.finish(generation, reason);
    preemption_.release(generation);
    generation.state = Generation::State::Finished;
    auto & job = *generation.job;
    const bool done = std::all_of(job.generations.begin(), job.generations.end(),
                                  [](const auto & g) { return g->state == Generation::State::Finished; });
    if (!done) return;
    job.finished = Clock::now();
    writer_.done(job);
    stats_.n_cached_tokens += job.n_cached;
    service_rate_.job_done(ms_between(job.admitted, job.finished) / 1000);
    end(job);
}

void Scheduler::fail(Job & job, const Status & status) {
    const MemoryWait wait;
    if (!job.cancelled) writer_.fail(job, status);
    end(job);
}

void Scheduler::fail_all(const Status & status) {
    const MemoryWait wait;
    auto jobs = running_.jobs();
    for (auto & job : waiting_.take_all()) jobs.push_back(std::move(job));
    for (auto & job : jobs) fail(*job, status);
}

// Takes the job out, whatever state its generations are in.
void Scheduler::end(Job & job) {
    const MemoryWait wait;
    const auto held = job.shared_from_this();
    job.over = true;
    for (auto & generation : job.generations) {
        if (generation->active()) preemption_.release(*generation);
        generation->state = Generation::State::Finished;
    }
    waiting_.remove(job.id);
    inbox_.leave_queue(job);
    if (job.started) {
        uint32_t n_generated = 0;
        for (const auto & generation : job.generations) n_generated += static_cast<uint32_t>(generation->n_generated);
        waiting_.reconcile(job, n_generated);
        job.started = false;
    }
    inbox_.forget(job);
    running_.remove(job);
}

void Scheduler::publish() {
    const uint32_t n_running = running_.n_active();
    stats_.n_active = n_running;
    service_rate_.step(Clock::now(), !waiting_.empty() || n_running >= limits_.n_parallel);
    inbox_.admission().set_rate(service_rate_.per_second(limits_.n_parallel));
}

}  // namespace svc
