#include "core_arbiter.h"

#include <algorithm>
#include <thread>

#include "../common/memory_wait.h"
#include "tuning.h"

namespace svc {

namespace {

// How many times as long as a turn the others compute until the next one of its use.
int turns_between(CoreUse use) {
    return use == CoreUse::kRecording ? kSchedulingTuning.turns_between_recordings : kSchedulingTuning.turns_between_background;
}

Clock::duration rest_after(CoreUse use, Clock::duration turn) {
    return std::min<Clock::duration>(turns_between(use) * turn, kSchedulingTuning.most_rest);
}

}  // namespace

CoreArbiter & CoreArbiter::of_process() {
    static CoreArbiter arbiter(std::max(1u, std::thread::hardware_concurrency()));
    return arbiter;
}

CoreArbiter::Member::Member(uint32_t n_threads, CoreArbiter & arbiter)
    : arbiter_(arbiter), n_threads_(std::min(n_threads, arbiter.n_cores_)) {
    std::lock_guard lock(arbiter_.mutex_);
    arbiter_.members_.push_back(this);
}

CoreArbiter::Member::~Member() {
    std::lock_guard lock(arbiter_.mutex_);
    auto & members = arbiter_.members_;
    members.erase(std::find(members.begin(), members.end(), this));
}

bool CoreArbiter::Member::is_contended() const {
    if (n_threads_ == 0) return false;
    std::lock_guard lock(arbiter_.mutex_);
    const auto since = Clock::now() - kSchedulingTuning.contention_memory;
    return std::any_of(arbiter_.members_.begin(), arbiter_.members_.end(),
                       [&](const Member * other) { return other != this && other->n_threads_ > 0 && other->last_ > since; });
}

void CoreArbiter::take(Member & member, CoreUse use) {
    if (member.n_threads_ == 0) return;
    auto own = with_memory([&] { return Line{{&member, use}}; });
    std::unique_lock lock(mutex_);
    const auto place = own.begin();
    waiting_.splice(end_of(use), own);
    if (use == CoreUse::kAnswer) member.last_ = share_of(use).last = Clock::now();
    else let_pass(lock, place);
    // The first in the line waits for as many cores as it needs, and nobody overtakes it.
    changed_.wait_for(lock, kSchedulingTuning.most_turn_wait, [&] { return is_turn(place); });
    own.splice(own.begin(), waiting_, place);
    n_free_ -= member.n_threads_;
    member.has_cores_ = true;
    member.taken_ = share_of(use).last = Clock::now();
    if (!waiting_.empty()) changed_.notify_all();
}

void CoreArbiter::release(Member & member, CoreUse use) {
    if (member.n_threads_ == 0) return;
    std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    n_free_ += member.n_threads_;
    member.has_cores_ = false;
    member.lasted_ = now - member.taken_;
    if (use != CoreUse::kBackground) member.last_ = now;
    share_of(use).last = now;
    share_of(use).next = now + rest_after(use, member.lasted_);
    if (!waiting_.empty()) changed_.notify_all();
}

void CoreArbiter::let_pass(std::unique_lock<std::mutex> & lock, Line::iterator place) {
    const auto use = place->use;
    const auto turn = place->member->lasted_;
    auto & share = share_of(use);
    for (auto now = Clock::now(); now < share.next; now = Clock::now()) {
        const auto pause = last_before(use) + kSchedulingTuning.pause_to_yield_to;
        const bool is_next = is_turn(place);
        if (is_next && (now >= pause || fits_beside_others(*place->member))) break;
        changed_.wait_until(lock, is_next ? std::min(pause, share.next) : share.next);
    }
    // Others of the same use wait for this turn too, which will take about as long as the last.
    share.next = Clock::now() + turn + rest_after(use, turn);
    place->use = CoreUse::kAnswer;
    waiting_.splice(end_of(CoreUse::kAnswer), waiting_, place);
}

CoreArbiter::Line::iterator CoreArbiter::end_of(CoreUse use) {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Place & place) { return place.use > use; });
}

Clock::time_point CoreArbiter::last_before(CoreUse use) const {
    auto last = Clock::time_point{};
    for (size_t i = 0; i < static_cast<size_t>(use); i++) last = std::max(last, shares_[i].last);
    return last;
}

bool CoreArbiter::fits_beside_others(const Member & member) const {
    const auto since = Clock::now() - kSchedulingTuning.pause_to_yield_to;
    uint64_t n_needed = member.n_threads_;
    for (const auto * other : members_)
        if (other != &member && (other->has_cores_ || other->last_ > since)) n_needed += other->n_threads_;
    return n_needed <= n_cores_;
}

bool CoreArbiter::is_turn(const Line::const_iterator & place) const {
    return place == waiting_.begin() && n_free_ >= place->member->n_threads_;
}

}  // namespace svc
