// Files of saved states, written and read on threads of their own. A file goes when its engine closes; after a kill, the next
// start of the server removes it. Somebody waits for what is read; what is written takes its time, because a busy thread beside
// those that compute makes their steps several times longer.
//
// Its content is what tenants said: the folder is open to this user alone, and a state is found again only through the memory of
// the process that wrote it, under its cache key.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kv_transfer.h"

namespace svc {

class KvDisk {
  public:
    struct Result {
        enum class Kind { Written, Read };
        Kind kind;
        uint32_t id;
        bool ok;
        std::string reason;                    // of a write that failed
        std::shared_ptr<const KvState> state;  // of a read that succeeded
        double ms;
        bool is_measured;  // `ms` is the time of the disk: nobody took the thread's core meanwhile
    };

    // Makes a folder inside `parent`. Throws StatusError internal when that is impossible.
    KvDisk(const std::string & parent, std::function<void()> wake);
    ~KvDisk();
    KvDisk(const KvDisk &) = delete;
    KvDisk & operator=(const KvDisk &) = delete;

    void write(uint32_t id, std::shared_ptr<const KvState> state);
    void read(uint32_t id);
    void remove(uint32_t id) noexcept;
    std::vector<Result> take_results();

  private:
    struct Task {
        enum class Kind { Write, Read, Remove };
        Kind kind;
        uint32_t id;
        std::shared_ptr<const KvState> state;
    };

    using Tasks = std::deque<Task>;

    void end();
    std::string path(uint32_t id) const;
    void add(Tasks & tasks, Task task);
    void run(Tasks & tasks);
    void perform(Task & task);
    void forget(uint32_t id);

    std::string folder_;
    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable has_task_;
    Tasks to_read_;
    Tasks to_write_;  // and to remove
    std::vector<Result> results_;
    bool closing_ = false;
    std::thread reader_;
    std::thread writer_;
};

}  // namespace svc
