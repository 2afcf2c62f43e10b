// Who runs: intake, admission to sequences, prefix sharing, and what the next step's batch holds.
#include <algorithm>

#include "engine.h"

namespace svc {

namespace {

// A prefix that another generation is still computing is worth waiting for when it saves at least this many tokens.
constexpr size_t kWorthFollowing = 32;
// Cells that stay free for each admitted generation's own tokens.
constexpr uint32_t kReservePerGeneration = 32;
// Ageing of waiting prefills: a prompt counts as this many tokens shorter for each millisecond that it waited.
constexpr double kAgeTokensPerMs = 2.0;
// Running prefills with a common prefix that are looked at before one is followed.
constexpr size_t kMostLeaders = 16;
// A client that does not read keeps its sequence so long when others wait.
constexpr auto kMostPause = std::chrono::seconds(1);
// A pass costs about as much as this many rows (1.8 ms and 0.45 ms for 8 layers of 512 on 2 cores; more rows for larger models).
constexpr uint32_t kMostFillers = 4;
constexpr llama_token kFillerToken = 0;
constexpr auto kIdlePoll = std::chrono::milliseconds(200);

}  // namespace

void Engine::run() {
    while (take_inbox()) {
        drop_cancelled();
        end_written();
        expire();
        const auto alive = jobs_;  // a job that ends inside the step stays valid until the step is over
        auto status = catch_status([this] { stalled_ = !step(); });
        if (!status.code.empty()) {
            for (auto & job : alive) fail(*job, status);
        }
        publish();
    }
    auto jobs = jobs_;
    for (auto & job : waiting_.take_all()) jobs.push_back(std::move(job));
    for (auto & job : jobs) fail(*job, {"closed", "the engine was closed"});
    publish();
}

// Takes new jobs in; sleeps while there is nothing to do. False when the engine closes.
bool Engine::take_inbox() {
    std::unique_lock lock(mutex_);
    auto awake = [this] { return closing_ || nudged_ || !inbox_.empty(); };
    if (generations_.empty() && waiting_.empty()) wake_engine_.wait(lock, awake);
    else if (stalled_) wake_engine_.wait_for(lock, kIdlePoll, awake);
    nudged_ = false;
    while (!inbox_.empty()) {
        auto job = std::move(inbox_.front());
        inbox_.pop_front();
        if (job->cancelled) cancelled_.push_back(job->id);
        waiting_.push(std::move(job));
    }
    return !closing_;
}

// A job that is cancelled while it is prepared is named again when it leaves the inbox.
void Engine::drop_cancelled() {
    std::vector<uint32_t> ids;
    {
        std::lock_guard lock(mutex_);
        ids.swap(cancelled_);
    }
    for (auto id : ids) {
        if (auto job = waiting_.remove(id)) finish_job(*job);
    }
    auto jobs = jobs_;
    for (auto & job : jobs) {
        if (job->cancelled) finish_job(*job);
    }
}

void Engine::end_written() {
    auto jobs = jobs_;
    for (auto & job : jobs) {
        if (job->broken) {
            finish_job(*job);
            continue;
        }
        for (auto & generation : job->generations) {
            if (generation->ended && generation->state != Generation::State::Finished) finish(*generation, Finish::Stop);
        }
    }
}

void Engine::expire() {
    const auto now = Clock::now();
    auto expired = waiting_.take_expired(now);
    for (auto & job : jobs_) {
        if (now >= job->deadline) expired.push_back(job);
    }
    for (auto & job : expired) fail(*job, {"deadline_exceeded", "the request's time limit has passed"});
}

void Engine::admit() {
    // After a preemption, admitting at once would take the same cells again and nobody would get on.
    if (holding_) return;
    uint32_t n_active = 0;
    for (const auto * generation : generations_) n_active += generation->active();
    while (auto * generation = next_waiting()) {
        if (n_active >= limits_.n_parallel || sequences_->n_idle() == 0) {
            if (!make_way(*generation->job)) return;
            n_active--;
        }
        if (!admit(*generation)) return;
        n_active++;
    }
}

// The first of those that wait, unless one of a job that began already comes before it.
Generation * Engine::next_waiting() {
    Generation * best = nullptr;
    auto * newcomer = waiting_.front();
    if (newcomer) best = newcomer->generations.front().get();
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Waiting || generation->job->paused) continue;
        if (!best) {
            best = generation;
            continue;
        }
        const auto & a = generation->job->options;
        const auto & b = best->job->options;
        const bool is_newcomer = best->job == newcomer;
        if (a.priority > b.priority || (a.priority == b.priority && is_newcomer && !waiting_.is_behind(b.tenant, a.tenant)))
            best = generation;
    }
    return best;
}

// A sequence for one that waits, where somebody should give one up; that one goes on later. True when there is one now.
bool Engine::make_way(const Job & newcomer) {
    auto * victim = find_sleeper();
    if (!victim) victim = find_victim(newcomer);
    if (!victim) return false;
    preempt(*victim);
    holding_ = false;
    return true;
}

// Whose client has not read for a while: otherwise a few such clients would keep everybody out.
Generation * Engine::find_sleeper() const {
    const auto now = Clock::now().time_since_epoch().count();
    for (auto * generation : generations_) {
        const auto & job = *generation->job;
        if (generation->state != Generation::State::Decode || !job.paused || !job.prompt.media.empty()) continue;
        if (Clock::duration(now - job.paused_since) >= kMostPause) return generation;
    }
    return nullptr;
}

// A tenant that runs nothing need not wait for an end: of those who run several, the one who runs most gives up what holds least.
Generation * Engine::find_victim(const Job & newcomer) const {
    std::map<std::string_view, int> running;
    for (const auto * generation : generations_) running[generation->job->options.tenant] += generation->active();
    if (running[newcomer.options.tenant] > 0) return nullptr;
    Generation * victim = nullptr;
    auto n_running = [&](const Generation & generation) { return running[generation.job->options.tenant]; };
    auto n_held = [](const Generation & generation) { return generation.sequence->tokens.size(); };
    for (auto * generation : generations_) {
        const auto & job = *generation->job;
        if (!generation->active() || job.options.priority > newcomer.options.priority || !job.prompt.media.empty()) continue;
        if (n_running(*generation) < 2 || waiting_.is_behind(job.options.tenant, newcomer.options.tenant)) continue;
        const bool is_better = !victim || n_running(*generation) > n_running(*victim) ||
                               (n_running(*generation) == n_running(*victim) && n_held(*generation) < n_held(*victim));
        if (is_better) victim = generation;
    }
    return victim;
}

bool Engine::admit(Generation & generation) {
    Sequence * source = nullptr;
    size_t n_common = 0;
    plan_prefix(generation, source, n_common);
    if (!make_room(generation, n_common)) return false;
    if (generation.leader) {
        n_common = 0;
        source = nullptr;
    }
    auto & job = *generation.job;
    generation.sequence = sequences_->acquire(job.cache_key, source, n_common, job.options.cache_prompt);
    if (!generation.sequence) return false;
    generation.state = generation.leader ? Generation::State::Following : Generation::State::Prefill;
    if (!generation.leader) announce(generation);
    if (job.started) return true;
    if (!generation.leader) job.n_cached = n_common;
    begin(job);
    return true;
}

// The job is no longer one that waits.
void Engine::begin(Job & job) {
    job.started = true;
    job.admitted = Clock::now();
    leave_queue(job);
    waiting_.charge(job);
    for (auto & generation : job.generations) generations_.push_back(generation.get());
    jobs_.push_back(waiting_.remove(job.id));
    writer_->start(job);
}

// Finds what need not be computed: a prefix that lies in the cache, or one that a running prefill is about to put there.
void Engine::plan_prefix(Generation & generation, Sequence *& source, size_t & n_common) {
    generation.leader = nullptr;
    const auto & job = *generation.job;
    if (!job.options.cache_prompt) return;
    // One token stays to be evaluated: its logits start the answer.
    const size_t most = generation.tokens.size() - 1;
    source = sequences_->find_prefix(job.cache_key, generation.tokens, most, n_common);
    size_t best = n_common + std::max(kWorthFollowing, sequences_->n_worth_sharing());
    for (const auto & [owner, planned] : plans_.find(job.cache_key, generation.tokens, most, kMostLeaders)) {
        auto * other = planning_.at(owner);
        if (planned < best) break;
        if (other == &generation || other->state != Generation::State::Prefill) continue;
        generation.leader = other;
        generation.follow_tokens = planned;
        break;
    }
}

// Who is about to compute these tokens: others may wait for them.
void Engine::announce(Generation & generation) {
    if (!generation.sequence->shareable) return;
    generation.plan = next_plan_++;
    planning_[generation.plan] = &generation;
    plans_.insert(generation.plan, generation.job->cache_key, generation.tokens.data(), generation.tokens.size());
}

void Engine::withdraw(Generation & generation) {
    if (generation.plan == 0) return;
    plans_.erase(generation.plan);
    planning_.erase(generation.plan);
    generation.plan = 0;
}

// A follower starts when its leader has computed the shared part, or looks again when the leader is gone.
void Engine::follow_leaders() {
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Following) continue;
        auto * leader = generation->leader;
        const bool leads = std::find(generations_.begin(), generations_.end(), leader) != generations_.end() && leader->active();
        if (leads && leader->sequence->tokens.size() < generation->follow_tokens && leader->state == Generation::State::Prefill)
            continue;
        auto & job = *generation->job;
        sequences_->release(*generation->sequence);
        generation->sequence = nullptr;
        Sequence * source = nullptr;
        size_t n_common = 0;
        plan_prefix(*generation, source, n_common);
        if (generation->leader) source = nullptr;
        generation->sequence =
            sequences_->acquire(job.cache_key, source, generation->leader ? 0 : n_common, job.options.cache_prompt);
        if (!generation->sequence) {
            generation->state = Generation::State::Waiting;
            continue;
        }
        generation->state = generation->leader ? Generation::State::Following : Generation::State::Prefill;
        if (!generation->leader) announce(*generation);
        if (generation->choice == 0) job.n_cached = n_common;
    }
}

// False: the prompt has to wait until others finish. Everyone who runs keeps some cells to grow into.
bool Engine::make_room(Generation & generation, size_t n_common) {
    uint32_t n_active = 0;
    for (const auto * other : generations_) n_active += other->active();
    const auto n_new = static_cast<uint32_t>(generation.tokens.size() - n_common);
    return n_active == 0 || sequences_->has_room(n_new + kReservePerGeneration * (n_active + 1));
}

// Adapters apply to a whole batch, so a step serves the sequences of one adapter set: the one that waited longest.
const std::string * Engine::choose_lora() {
    const std::string * other = nullptr;
    for (const auto * generation : generations_) {
        if (!generation->active() || generation->state == Generation::State::Following) continue;
        if (generation->state == Generation::State::Decode && generation->job->paused) continue;
        if (generation->job->lora_key != lora_in_use_) return &generation->job->lora_key;
        if (!other) other = &generation->job->lora_key;
    }
    return other;
}

void Engine::plan_decode(const std::string & lora) {
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Decode || generation->job->paused || generation->job->lora_key != lora)
            continue;
        if (in_step_.size() >= static_cast<size_t>(batch_->room())) return;
        generation->n_planned = 1;
        in_step_.push_back(generation);
    }
}

// Shortest remaining prompt first, with ageing so that long ones are not starved.
void Engine::plan_prefill(const std::string & lora) {
    std::vector<std::pair<double, Generation *>> waiting;
    const auto now = Clock::now();
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Prefill || generation->job->lora_key != lora) continue;
        const double age_ms = std::chrono::duration<double, std::milli>(now - generation->job->admitted).count();
        waiting.emplace_back(static_cast<double>(generation->n_remaining_prefill()) - kAgeTokensPerMs * age_ms, generation);
    }
    std::sort(waiting.begin(), waiting.end());
    size_t n_at_once = 0;
    size_t n_short = 0;
    for (const auto & entry : waiting) {
        n_at_once += entry.second->n_remaining_prefill();
        n_short += n_at_once <= budget_->n_most();
    }
    const auto n_decoding = static_cast<uint32_t>(in_step_.size());
    auto room = std::min(budget_->tokens(n_decoding, n_short), static_cast<uint32_t>(batch_->room()) - n_decoding);
    for (auto & entry : waiting) {
        if (room == 0) return;
        room -= plan_prompt(*entry.second, room);
    }
}

// Takes the next part of the prompt into the step; returns the number of tokens. It ends before an image: run_media() takes that.
uint32_t Engine::plan_prompt(Generation & generation, uint32_t n_most) {
    const auto begin = generation.tokens.begin() + static_cast<std::ptrdiff_t>(generation.sequence->tokens.size());
    const auto n_left = std::min<std::ptrdiff_t>(generation.tokens.end() - begin, n_most);
    const auto end = std::find(begin, begin + n_left, LLAMA_TOKEN_NULL);
    generation.n_planned = static_cast<uint32_t>(end - begin);
    if (generation.n_planned > 0) in_step_.push_back(&generation);
    return generation.n_planned;
}

// In the order of sequence ids: with a buffer for each sequence, llama.cpp evaluates consecutive ones together.
void Engine::build_batch() {
    std::sort(in_step_.begin(), in_step_.end(),
              [](const Generation * a, const Generation * b) { return a->sequence->id < b->sequence->id; });
    uint32_t n_rows = 0;
    for (const auto * generation : in_step_) n_rows += generation->n_planned;
    n_spare_rows_ = static_cast<uint32_t>(batch_->room()) - n_rows;
    llama_seq_id last = -1;
    for (auto * generation : in_step_) {
        const auto & sequence = *generation->sequence;
        if (last >= 0) fill_gap(last + 1, sequence.id);
        last = sequence.id;
        if (generation->state == Generation::State::Prefill) add_prompt(*generation);
        else generation->batch_index = batch_->add(generation->next, sequence.n_pos, sequence.id, true);
    }
}

void Engine::add_prompt(Generation & generation) {
    const auto & sequence = *generation.sequence;
    const size_t begin = sequence.tokens.size();
    for (size_t i = begin; i < begin + generation.n_planned; i++) {
        const bool last = i + 1 == generation.tokens.size();
        const auto pos = sequence.n_pos + static_cast<llama_pos>(i - begin);
        const int32_t row = batch_->add(generation.tokens[i], pos, sequence.id, last);
        if (last) generation.batch_index = row;
    }
}

// With a buffer for each sequence, llama.cpp evaluates a run of consecutive ids in one pass, and every further run in a pass of
// its own that reads all weights again (8 layers of 512, 16 streams on 2 cores: 1,470 tok/s without gaps, 350 with gaps between
// all). A row that nobody asked for costs less than a pass: it closes the gap and is forgotten after the step.
void Engine::fill_gap(llama_seq_id from, llama_seq_id to) {
    const auto n_rows = static_cast<uint32_t>(to - from);
    if (n_rows > std::min(kMostFillers, n_spare_rows_)) return;
    for (auto id = from; id < to; id++) {
        if (sequences_->filler_pos(id) < 0) return;
    }
    for (auto id = from; id < to; id++) {
        batch_->add(kFillerToken, sequences_->filler_pos(id), id, false);
        fillers_.push_back(id);
    }
    n_spare_rows_ -= n_rows;
}

}  // namespace svc
