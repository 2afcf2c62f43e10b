// Contexts that compute on the same cores take turns, a step at a time. Side by side they wait at barriers for threads that do
// not run. Nobody waits for long: beside a context whose steps take longer, the system divides the cores.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

#include "clock.h"

namespace svc {

class ComputeTurns {
  public:
    // A context, for as long as it lives. Used by one thread at a time.
    class Member {
      public:
        // `n_threads`: 0 for one that computes elsewhere, which never waits.
        explicit Member(uint32_t n_threads, ComputeTurns & turns = of_process());
        ~Member();
        Member(const Member &) = delete;
        Member & operator=(const Member &) = delete;

        // Whether others computed of late: steps should then be short.
        bool has_company() const;

      private:
        friend class ComputeTurns;
        friend class ComputeTurn;
        ComputeTurns & turns_;
        uint32_t n_threads_;
        Clock::time_point last_{};
    };

    explicit ComputeTurns(uint32_t n_cores) : n_free_(n_cores), n_cores_(n_cores) {}
    static ComputeTurns & of_process();

  private:
    friend class ComputeTurn;
    void take(Member & member);
    void give_back(Member & member);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int64_t n_free_;  // below 0 when somebody did not wait any longer
    uint32_t n_cores_;
    std::list<const Member *> waiting_;  // in order of arrival
    std::vector<Member *> members_;
};

// Holds the cores while it lives.
class ComputeTurn {
  public:
    explicit ComputeTurn(ComputeTurns::Member & member) : member_(member) { member_.turns_.take(member_); }
    ~ComputeTurn() { member_.turns_.give_back(member_); }
    ComputeTurn(const ComputeTurn &) = delete;
    ComputeTurn & operator=(const ComputeTurn &) = delete;

  private:
    ComputeTurns::Member & member_;
};

}  // namespace svc
