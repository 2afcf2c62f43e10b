// Rows whose grammar takes longer than a step has time for. The other sequences go on without theirs, which join them again when
// their tokens are there.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../../common/status.h"
#include "../queue/job.h"
#include "sampled_row.h"

namespace svc {

class LateRows {
  public:
    // Samples a row; called on a thread of this object, whose GrammarBudget it keeps to.
    using Sample = std::function<SampledRow(Generation &, const float *)>;

    struct Result {
        std::shared_ptr<Job> job;
        Generation * generation;
        SampledRow row;
        Status status;  // of an empty code where there is a row
        double ms;      // of processor time that it took
    };

    // `wake` is called on a thread of this object when a result is there, `idle` when that thread has done some work.
    LateRows(Sample sample, std::function<void()> wake, std::function<void()> idle);
    // Breaks off what is running of jobs that are over; the others are worked on to the end of their slice.
    ~LateRows();
    LateRows(const LateRows &) = delete;
    LateRows & operator=(const LateRows &) = delete;

    // Takes over logits[n_vocab]. The generation's sampler is not to be used until the result is taken; a job that is over has
    // none. Throws std::system_error where no thread can be had.
    void add(Generation & generation, std::vector<float> logits);
    std::vector<Result> take_results();

  private:
    struct Row {
        std::shared_ptr<Job> job;
        Generation * generation;
        std::vector<float> logits;
        double before_ms;  // that its generation had taken outside
        double slice_ms;
        double spent_ms = 0;

        // Who took least comes first; what is over takes nothing.
        double rank() const { return job->over ? -1 : before_ms + spent_ms; }
    };
    // A thread and its rows. A row that takes long goes on to the last lane.
    struct Lane {
        int niceness;
        double most_ms;
        std::vector<Row> rows;
        std::thread thread;
    };

    void push(Lane & lane, Row & row);
    void run(Lane & lane);
    void work(Lane & lane, Row & row);
    bool try_row(Row & row, Result & result) const;
    static Row take_first(Lane & lane);

    Sample sample_;
    std::function<void()> wake_;
    std::function<void()> idle_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::array<Lane, 2> lanes_;
    std::vector<Result> results_;
    bool closing_ = false;
};

}  // namespace svc
