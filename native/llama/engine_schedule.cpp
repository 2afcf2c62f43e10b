// Who runs: intake, admission to sequences, and what the next step's batch holds. What admitted jobs start from is in
// engine_cache.cpp.
#include <algorithm>

#include "engine.h"

namespace svc {

namespace {

// Ageing of waiting prefills: a prompt counts as this many tokens shorter for each millisecond that it waited.
constexpr double kAgeTokensPerMs = 2.0;
// It counts as so many tokens longer for each other sequence that its tenant runs.
constexpr double kSiblingTokens = 512;
// A prompt this long lets one that ends go ahead alone.
constexpr size_t kTokensToHurry = 1024;
// As many tokens may be added to a chunk that ends a prompt.
constexpr uint32_t kTail = PrefillBudget::kTile / 2;
// A client that does not read keeps its sequence so long when others wait.
constexpr auto kMostPause = std::chrono::seconds(1);
// A pass costs about as much as this many rows (1.8 ms and 0.45 ms for 8 layers of 512 on 2 cores; more rows for larger models).
constexpr uint32_t kMostFillers = 4;
constexpr llama_token kFillerToken = 0;
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
        if (!admit(*generation) && !set_sleeper_aside()) return;
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

// Adapters apply to a whole batch, so a step serves the sequences of one adapter set: the one that waited longest. Null when
// nobody can go on.
const std::string * Engine::choose_lora() {
    const Generation * next = nullptr;
    for (const auto * generation : generations_) {
        const bool decodes = generation->state == Generation::State::Decode && !generation->job->paused;
        if (!decodes && generation->state != Generation::State::Prefill) continue;
        if (!next || generation->last_turn < next->last_turn) next = generation;
    }
    if (!next) return nullptr;
    n_turns_++;
    for (auto * generation : generations_) {
        if (generation->job->lora_key == next->job->lora_key) generation->last_turn = n_turns_;
    }
    return &next->job->lora_key;
}

void Engine::plan_decode(const std::string & lora) {
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Decode || generation->job->paused || generation->job->lora_key != lora)
            continue;
        if (in_step_.size() >= static_cast<size_t>(batch_->room())) break;
        generation->n_planned = 1;
        in_step_.push_back(generation);
    }
    if (!speculation_) return;
    sort_by_sequence();
    speculation_->plan(
        in_step_, [this](llama_seq_id from, llama_seq_id to) { return can_fill(from, to); }, *compute_);
}

// Prompts that could go on: shortest remaining first, with ageing so that long ones are not starved, and those of tenants that
// run much later.
std::vector<Generation *> Engine::prompts_in_order(const std::string & lora) const {
    std::vector<std::pair<double, Generation *>> ranked;
    const auto now = Clock::now();
    for (auto * generation : generations_) {
        const auto & job = *generation->job;
        if (generation->state != Generation::State::Prefill || job.lora_key != lora) continue;
        const auto n_left = static_cast<double>(generation->n_remaining_prefill());
        ranked.emplace_back(n_left - kAgeTokensPerMs * ms_between(job.admitted, now), generation);
    }
    if (ranked.empty()) return {};
    auto n_running = count_running();
    for (auto & [tokens, generation] : ranked) tokens += kSiblingTokens * (n_running[generation->job->options.tenant] - 1);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto & a, const auto & b) { return a.first < b.first; });
    std::vector<Generation *> ordered;
    for (const auto & entry : ranked) ordered.push_back(entry.second);
    return ordered;
}

void Engine::plan_prefill(const std::string & lora) {
    const auto waiting = prompts_in_order(lora);
    if (waiting.empty()) return budget_->end_burst();
    PrefillBudget::Prompts prompts{waiting.size(), 0, waiting.front()->sequence->tokens.size(), !waiting_.empty(),
                                   compute_->has_company()};
    for (const auto * generation : waiting) prompts.n_tokens += generation->n_remaining_prefill();
    const bool hurries = in_step_.empty() && waiting.back()->n_remaining_prefill() > kTokensToHurry;
    auto room = prefill_room(prompts);
    for (auto * generation : waiting) {
        const size_t n_left = generation->n_remaining_prefill();
        // Its last few tokens would cost a pass of their own.
        if (n_left > room && n_left <= room + kTail) room = std::min(room + kTail, n_free_rows());
        const bool ends = n_left <= room;
        // Less than a tile of a prompt is not worth a pass, unless it is all that there is room for.
        if (!ends && room < PrefillBudget::kTile && generation != waiting.front()) return;
        room -= plan_prompt(*generation, room);
        // An answer begins after this step: those whose prompts go on do not make it wait for long.
        if (ends && hurries) room = std::min(room, PrefillBudget::kTile);
    }
}

// Rows that the batch has left.
uint32_t Engine::n_free_rows() const { return static_cast<uint32_t>(batch_->room()) - n_planned_rows(); }

// Prompt tokens that go with what decodes in this step.
uint32_t Engine::prefill_room(const PrefillBudget::Prompts & prompts) {
    const auto n_decoding = static_cast<uint32_t>(in_step_.size());
    const uint32_t n_rows = n_planned_rows();
    auto room = budget_->tokens(n_decoding, prompts);
    // Drafted rows take the place of prompt tokens.
    room -= std::min(room, n_rows - n_decoding);
    // Beside other rows, llama.cpp's passes take one token of a prompt along with those, or in a common buffer all of the chunk.
    if (n_decoding > 0 && room > 0 && room % PrefillBudget::kTile == 0)
        room = sequences_->is_common_buffer() ? room - n_rows % PrefillBudget::kTile : room + 1;
    return std::min(room, n_free_rows());
}

uint32_t Engine::n_planned_rows() const {
    uint32_t n_rows = 0;
    for (const auto * generation : in_step_) n_rows += generation->n_planned;
    return n_rows;
}

// With a buffer for each sequence, llama.cpp evaluates consecutive ones together.
void Engine::sort_by_sequence() {
    std::sort(in_step_.begin(), in_step_.end(),
              [](const Generation * a, const Generation * b) { return a->sequence->id < b->sequence->id; });
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

void Engine::build_batch() {
    sort_by_sequence();
    n_spare_rows_ = n_free_rows();
    llama_seq_id last = -1;
    for (auto * generation : in_step_) {
        const auto & sequence = *generation->sequence;
        if (last >= 0) fill_gap(last + 1, sequence.id);
        last = sequence.id;
        if (generation->state == Generation::State::Prefill) add_prompt(*generation);
        else add_next(*generation);
    }
}

// The generation's next token, and what was drafted behind it.
void Engine::add_next(Generation & generation) {
    const auto & sequence = *generation.sequence;
    auto pos = sequence.n_pos;
    generation.batch_index = batch_->add(generation.next, pos, sequence.id, true);
    for (auto token : generation.drafting.tokens) batch_->add(token, ++pos, sequence.id, true);
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
    if (n_rows > n_spare_rows_ || !can_fill(from, to)) return;
    for (auto id = from; id < to; id++) {
        batch_->add(kFillerToken, sequences_->filler_pos(id), id, false);
        fillers_.push_back(id);
    }
    n_spare_rows_ -= n_rows;
}

bool Engine::can_fill(llama_seq_id from, llama_seq_id to) const {
    if (static_cast<uint32_t>(to - from) > kMostFillers) return false;
    for (auto id = from; id < to; id++) {
        if (sequences_->filler_pos(id) < 0) return false;
    }
    return true;
}

}  // namespace svc
