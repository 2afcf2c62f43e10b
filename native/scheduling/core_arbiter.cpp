#include "core_arbiter.h"

#include <algorithm>
#include <thread>

#include "../common/memory_wait.h"
#include "tuning.h"

namespace svc {

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

void CoreArbiter::take(Member & member, bool yields) {
    if (member.n_threads_ == 0) return;
    auto own = with_memory([&] { return Line{{&member, yields}}; });
    std::unique_lock lock(mutex_);
    const auto place = own.begin();
    waiting_.splice(yields ? waiting_.end() : first_that_yields(), own);
    if (yields) yield(lock, place);
    else member.last_ = last_ = Clock::now();
    // The first in the line waits for as many cores as it needs, and nobody overtakes it.
    changed_.wait_for(lock, kSchedulingTuning.most_turn_wait, [&] { return is_turn(place); });
    own.splice(own.begin(), waiting_, place);
    n_free_ -= member.n_threads_;
    member.taken_ = Clock::now();
    if (!waiting_.empty()) changed_.notify_all();
}

void CoreArbiter::release(Member & member, bool yields) {
    if (member.n_threads_ == 0) return;
    std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    n_free_ += member.n_threads_;
    member.lasted_ = now - member.taken_;
    if (!yields) member.last_ = last_ = now;
    if (!waiting_.empty()) changed_.notify_all();
}

void CoreArbiter::yield(std::unique_lock<std::mutex> & lock, Line::iterator place) {
    const Clock::duration share = kSchedulingTuning.turns_between_yielding * place->member->lasted_;
    const auto end = Clock::now() + std::min<Clock::duration>(share, kSchedulingTuning.most_yielding);
    for (auto now = Clock::now(); now < end; now = Clock::now()) {
        const auto pause = last_ + kSchedulingTuning.pause_to_yield_to;
        const bool is_next = is_turn(place);
        if (is_next && now >= pause) break;
        changed_.wait_until(lock, is_next ? std::min(pause, end) : end);
    }
    place->yields = false;
    waiting_.splice(first_that_yields(), waiting_, place);
}

CoreArbiter::Line::iterator CoreArbiter::first_that_yields() {
    return std::find_if(waiting_.begin(), waiting_.end(), [](const Place & place) { return place.yields; });
}

bool CoreArbiter::is_turn(const Line::const_iterator & place) const {
    return place == waiting_.begin() && n_free_ >= place->member->n_threads_;
}

}  // namespace svc
