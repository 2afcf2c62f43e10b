// Who runs: intake, admission to sequences, and who gives way. What a step's batch holds is in engine_plan.cpp, what admitted
// jobs start from in engine_cache.cpp.
#include <algorithm>

#include "engine.h"

namespace svc {

namespace {

// A client that does not read keeps its sequence so long when others wait.
constexpr auto kMostPause = std::chrono::seconds(1);
constexpr auto kIdlePoll = std::chrono::milliseconds(200);

}  // namespace

// Warmed up here and not where the engine is made: OpenMP keeps a team of threads for each thread that ever computed, and with
// more of them than cores it stops spinning at barriers altogether (libgomp's throttled spin count). One stream of 8 layers of
// 512: 290 tok/s instead of 420.
void Engine::run() {
    {
        const ComputeTurn turn(*compute_);
        warm_up(*model_, context_.get(), *batch_);
        if (speculation_) speculation_->warm_up();
    }
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
    if (ids.empty()) return;
    for (auto id : ids) {
        if (auto job = waiting_.remove(id)) finish_job(*job);
    }
    auto jobs = jobs_;
    for (auto & job : jobs) {
        if (job->cancelled) finish_job(*job);
    }
}

void Engine::end_written() {
    std::vector<std::shared_ptr<Job>> over;  // to end one changes jobs_
    auto has_ended = [](const auto & generation) {
        return generation->ended && generation->state != Generation::State::Finished;
    };
    for (const auto & job : jobs_) {
        const auto & all = job->generations;
        if (job->broken || std::any_of(all.begin(), all.end(), has_ended)) over.push_back(job);
    }
    for (const auto & job : over) {
        if (job->broken) {
            finish_job(*job);
            continue;
        }
        for (auto & generation : job->generations) {
            if (has_ended(generation)) finish(*generation, Finish::Stop);
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
    if (holding_ && !set_sleeper_aside()) return;
    while (auto * generation = next_waiting()) {
        if (n_active() >= limits_.n_parallel || sequences_->n_idle() == 0) {
            if (!make_way(*generation->job)) return;
        }
        // While somebody is being saved there will be room in a moment.
        if (!admit(*generation) && (sequences_->is_saving() || !set_sleeper_aside())) return;
    }
}

uint32_t Engine::n_active() const {
    return static_cast<uint32_t>(
        std::count_if(generations_.begin(), generations_.end(), [](const Generation * g) { return g->active(); }));
}

// Null when none is active.
Generation * Engine::youngest_active() const {
    const auto found = std::find_if(generations_.rbegin(), generations_.rend(), [](const Generation * g) { return g->active(); });
    return found == generations_.rend() ? nullptr : *found;
}

// The first of those that wait, unless one of a job that began already comes before it.
Generation * Engine::next_waiting() {
    Generation * best = nullptr;
    auto * newcomer = waiting_.front([this](Job & job) { return !is_fetching(*job.generations.front()); });
    if (newcomer) best = newcomer->generations.front().get();
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Waiting || generation->job->paused || is_fetching(*generation)) continue;
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
    if (set_sleeper_aside()) return true;
    auto * victim = find_victim(newcomer);
    if (!victim) return false;
    step_back(*victim);
    return true;
}

// Takes the sequence of one whose client does not read. False: they all do.
bool Engine::set_sleeper_aside() {
    auto * sleeper = find_sleeper();
    if (!sleeper) return false;
    step_back(*sleeper);
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

// Sequences that each tenant runs.
std::map<std::string_view, int> Engine::count_running() const {
    std::map<std::string_view, int> running;
    for (const auto * generation : generations_) running[generation->job->options.tenant] += generation->active();
    return running;
}

// A tenant that runs nothing need not wait for an end: of those who run several, the one who runs most gives up what holds least.
Generation * Engine::find_victim(const Job & newcomer) const {
    auto running = count_running();
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

// False: it has to wait, and so have all that come after it.
bool Engine::admit(Generation & generation) {
    const auto plan = plan_prefix(generation);
    if (!has_room(generation, plan)) return false;
    if (plan.saved.id && !plan.saved.in_memory && tier_->fetch(plan.saved.id)) {
        generation.fetching = plan.saved.id;
        return true;
    }
    if (!place(generation, plan)) return false;
    auto & job = *generation.job;
    if (job.started) return true;
    begin(job);
    return true;
}

// The job is no longer one that waits.
void Engine::begin(Job & job) {
    equip(job);
    job.started = true;
    job.admitted = Clock::now();
    leave_queue(job);
    waiting_.charge(job);
    for (auto & generation : job.generations) {
        generation->last_turn = n_turns_;
        generations_.push_back(generation.get());
    }
    jobs_.push_back(waiting_.remove(job.id));
    writer_->start(job);
}

}  // namespace svc
