#include "late_rows.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <sys/resource.h>

#include "../grammar/grammar_budget.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

double thread_ms() { return GrammarBudget::ms_of(CLOCK_THREAD_CPUTIME_ID); }

void step_aside(int niceness) {
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, niceness);  // on Linux of the thread, not of the process
#else
    (void)niceness;
#endif
}

}  // namespace

LateRows::LateRows(Sample sample, std::function<void()> wake, std::function<void()> idle)
    : sample_(std::move(sample)), wake_(std::move(wake)), idle_(std::move(idle)) {
    lanes_[0].niceness = kTuning.late_quick_niceness;
    lanes_[0].most_ms = kTuning.late_row_quick_ms;
    lanes_[1].niceness = kTuning.late_slow_niceness;
    lanes_[1].most_ms = kTuning.late_row_most_ms;
}

LateRows::~LateRows() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    for (auto & lane : lanes_) {
        if (lane.thread.joinable()) lane.thread.join();
    }
}

// Their threads are started with the first row: most engines never have one.
void LateRows::add(Generation & generation, std::vector<float> logits) {
    for (auto & lane : lanes_) {
        if (!lane.thread.joinable()) lane.thread = std::thread([this, &lane] { run(lane); });
    }
    const auto & pace = generation.pace;
    Row row{generation.job->shared_from_this(), &generation, std::move(logits), pace.outside_ms(), kTuning.late_first_slice_ms};
    push(lanes_[pace.is_slow() ? 1 : 0], row);
}

std::vector<LateRows::Result> LateRows::take_results() {
    std::lock_guard lock(mutex_);
    return std::exchange(results_, {});
}

void LateRows::push(Lane & lane, Row & row) {
    {
        std::lock_guard lock(mutex_);
        lane.rows.push_back(std::move(row));
    }
    changed_.notify_all();
}

void LateRows::run(Lane & lane) {
    step_aside(lane.niceness);
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return closing_ || !lane.rows.empty(); });
        if (closing_) return;
        {
            auto row = take_first(lane);
            lock.unlock();
            if (!row.job->over) work(lane, row);
        }  // it may have been the last to hold its job
        idle_();
        lock.lock();
    }
}

LateRows::Row LateRows::take_first(Lane & lane) {
    const auto first =
        std::min_element(lane.rows.begin(), lane.rows.end(), [](const Row & a, const Row & b) { return a.rank() < b.rank(); });
    auto row = std::move(*first);
    lane.rows.erase(first);
    return row;
}

// A row takes turns with others in slices of processor time, so that one that takes long delays another by little. Its next slice
// is twice as long: what an attempt found out is kept, but a single character that was not finished begins anew.
void LateRows::work(Lane & lane, Row & row) {
    Result result{row.job, row.generation, {}, {}, 0};
    const double begin = thread_ms();
    bool is_done = true;
    auto status = catch_status([&] { is_done = try_row(row, result); });
    row.spent_ms += thread_ms() - begin;
    if (row.job->over) return;
    if (!is_done && row.spent_ms < kTuning.late_row_most_ms) {
        row.slice_ms = std::min(2 * row.slice_ms, kTuning.late_most_slice_ms);
        auto & next = row.spent_ms < lane.most_ms ? lane : lanes_.back();
        persist([&] { push(next, row); });
        return;
    }
    if (!is_done) {
        status = catch_status([] {
            throw StatusError("grammar_too_complex", "the grammar takes too long to follow; make it smaller, or less ambiguous");
        });
    }
    result.status = std::move(status);
    result.ms = row.spent_ms;
    persist([&] {
        std::lock_guard lock(mutex_);
        results_.push_back(std::move(result));
    });
    wake_();
}

// False: its slice is over.
bool LateRows::try_row(Row & row, Result & result) const {
    try {
        const GrammarBudget budget(GrammarBudget::Kind::Thread, row.slice_ms, &row.job->over);
        result.row = sample_(*row.generation, row.logits.data());
        return true;
    } catch (const GrammarLate &) {
        return false;
    }
}

}  // namespace svc
