// Jobs between submit() and their end, as other threads than the engine's see them: admission, cancelling and pausing by id, and
// what the engine thread has to hear of. Thread-safe, and O(1) but for take().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../../common/id_source.h"
#include "admission_control.h"
#include "job.h"

namespace svc {

class JobInbox {
  public:
    struct News {
        std::vector<std::shared_ptr<Job>> ready;  // that were prepared
        std::vector<uint32_t> cancelled;
        bool is_closing = false;
    };
    enum class Wait { Not, Briefly, Long };

    // Admits a job to the queue and gives it its id. Throws StatusError queue_full or closed.
    void add(const std::shared_ptr<Job> & job);
    // The job is prepared: the engine thread takes it over.
    void deliver(const std::shared_ptr<Job> & job);
    // Nothing happens to an unknown id.
    void cancel(uint32_t id);
    void set_paused(uint32_t id, bool paused);
    // The job's place in the queue is free again.
    void leave_queue(Job & job);
    // The job has ended.
    void forget(const Job & job);

    // Engine thread: what came since it asked last; waits for something to come, where it should.
    News take(Wait wait);
    void notify();
    void close();
    // They are the jobs that nobody ended before close().
    std::vector<std::shared_ptr<Job>> take_left();

    AdmissionControl & admission() { return admission_; }
    const AdmissionControl & admission() const { return admission_; }

  private:
    AdmissionControl admission_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unordered_map<uint32_t, std::shared_ptr<Job>> by_id_;
    News news_;
    bool is_notified_ = false;
    IdSource ids_;
};

}  // namespace svc
