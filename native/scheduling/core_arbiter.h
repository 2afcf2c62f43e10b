// Contexts that compute on the same cores take turns, a step at a time. Side by side they wait at barriers for threads that do
// not run. Nobody waits for long: beside a context whose steps take longer, the system divides the cores. Work that nobody waits
// for lets the others go first, also in the short times between their steps, and gets a small share of the cores beside them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

#include "../common/clock.h"

namespace svc {

class CoreArbiter {
  public:
    // A context, for as long as it lives. Used by one thread at a time.
    class Member {
      public:
        // `n_threads`: 0 for one that computes elsewhere, which never waits.
        explicit Member(uint32_t n_threads, CoreArbiter & arbiter = of_process());
        ~Member();
        Member(const Member &) = delete;
        Member & operator=(const Member &) = delete;

        // Whether others computed of late that somebody waits for: steps should then be short.
        bool is_contended() const;

      private:
        friend class CoreArbiter;
        friend class CoreGrant;
        CoreArbiter & arbiter_;
        uint32_t n_threads_;
        Clock::time_point last_{};  // of a turn that did not yield
        Clock::time_point taken_{};
        Clock::duration lasted_{};  // its last turn
    };

    explicit CoreArbiter(uint32_t n_cores) : n_free_(n_cores), n_cores_(n_cores) {}
    static CoreArbiter & of_process();

  private:
    friend class CoreGrant;
    struct Place {
        const Member * member;
        bool yields;
    };
    using Line = std::list<Place>;

    void take(Member & member, bool yields);
    void release(Member & member, bool yields);
    Line::iterator first_that_yields();
    bool is_turn(const Line::const_iterator & place) const;
    // The caller waits until the others pause, or have had their share.
    void yield(std::unique_lock<std::mutex> & lock, Line::iterator place);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int64_t n_free_;  // below 0 when somebody did not wait any longer
    uint32_t n_cores_;
    Line waiting_;              // in order of arrival, those that yield last
    Clock::time_point last_{};  // when a turn that did not yield began or ended
    std::vector<Member *> members_;
};

// Holds the cores while it lives.
class CoreGrant {
  public:
    // `yields`: nobody waits for what is computed.
    explicit CoreGrant(CoreArbiter::Member & member, bool yields = false) : member_(member), yields_(yields) {
        member_.arbiter_.take(member_, yields_);
    }
    ~CoreGrant() { member_.arbiter_.release(member_, yields_); }
    CoreGrant(const CoreGrant &) = delete;
    CoreGrant & operator=(const CoreGrant &) = delete;

  private:
    CoreArbiter::Member & member_;
    const bool yields_;
};

}  // namespace svc
