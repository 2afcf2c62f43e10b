// Contexts that compute on the same cores take turns, a step at a time. Side by side they wait at barriers for threads that do
// not run. Nobody waits for long: beside a context whose steps take longer, the system divides the cores. A pass over a recording
// lets answers go first, and work that nobody waits for lets both, also in the short times between their steps: all passes
// together get a quarter of the time of the cores that answers need, all such work a fifth. Cores that nobody needed of late are
// free for all.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

#include "../common/clock.h"

namespace svc {

// Who waits for what is computed, in the order in which they go.
enum class CoreUse : uint8_t {
    kAnswer,      // somebody, for each step
    kRecording,   // somebody, for the whole
    kBackground,  // nobody
};

// What computes for nobody goes last, whatever it is.
inline CoreUse use_of(bool is_background, CoreUse otherwise) { return is_background ? CoreUse::kBackground : otherwise; }

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
        Clock::time_point last_{};  // of a turn that somebody waits for
        Clock::time_point taken_{};
        Clock::duration lasted_{};  // its last turn
        bool has_cores_ = false;
    };

    explicit CoreArbiter(uint32_t n_cores) : n_free_(n_cores), n_cores_(n_cores) {}
    static CoreArbiter & of_process();

  private:
    friend class CoreGrant;
    struct Place {
        const Member * member;
        CoreUse use;  // kAnswer once it has let the others go first
    };
    using Line = std::list<Place>;
    // The turns of one use together.
    struct Share {
        Clock::time_point last{};  // when one began or ended
        Clock::time_point next{};  // until then the others go first
    };

    void take(Member & member, CoreUse use);
    void release(Member & member, CoreUse use);
    Line::iterator end_of(CoreUse use);
    bool is_turn(const Line::const_iterator & place) const;
    Share & share_of(CoreUse use) { return shares_[static_cast<size_t>(use)]; }
    // The caller waits until the others pause, or have had their share.
    void let_pass(std::unique_lock<std::mutex> & lock, Line::iterator place);
    Clock::time_point last_before(CoreUse use) const;
    // Whether it fits beside all that have cores or that somebody waited for of late.
    bool fits_beside_others(const Member & member) const;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int64_t n_free_;  // below 0 when somebody did not wait any longer
    uint32_t n_cores_;
    Line waiting_;  // by use, then in order of arrival
    std::array<Share, 3> shares_{};
    std::vector<Member *> members_;
};

// Holds the cores while it lives.
class CoreGrant {
  public:
    explicit CoreGrant(CoreArbiter::Member & member, CoreUse use = CoreUse::kAnswer) : member_(member), use_(use) {
        member_.arbiter_.take(member_, use_);
    }
    ~CoreGrant() { member_.arbiter_.release(member_, use_); }
    CoreGrant(const CoreGrant &) = delete;
    CoreGrant & operator=(const CoreGrant &) = delete;

  private:
    CoreArbiter::Member & member_;
    const CoreUse use_;
};

}  // namespace svc
