#include "compute_turns.h"

#include <algorithm>
#include <thread>

namespace svc {

namespace {

constexpr auto kOfLate = std::chrono::milliseconds(200);
constexpr auto kMostWait = std::chrono::milliseconds(30);

}  // namespace

ComputeTurns & ComputeTurns::of_process() {
    static ComputeTurns turns(std::max(1u, std::thread::hardware_concurrency()));
    return turns;
}

ComputeTurns::Member::Member(uint32_t n_threads, ComputeTurns & turns)
    : turns_(turns), n_threads_(std::min(n_threads, turns.n_cores_)) {
    std::lock_guard lock(turns_.mutex_);
    turns_.members_.push_back(this);
}

ComputeTurns::Member::~Member() {
    std::lock_guard lock(turns_.mutex_);
    auto & members = turns_.members_;
    members.erase(std::find(members.begin(), members.end(), this));
}

bool ComputeTurns::Member::has_company() const {
    if (n_threads_ == 0) return false;
    std::lock_guard lock(turns_.mutex_);
    const auto since = Clock::now() - kOfLate;
    return std::any_of(turns_.members_.begin(), turns_.members_.end(),
                       [&](const Member * other) { return other != this && other->n_threads_ > 0 && other->last_ > since; });
}

void ComputeTurns::take(Member & member) {
    if (member.n_threads_ == 0) return;
    std::unique_lock lock(mutex_);
    const auto place = waiting_.insert(waiting_.end(), &member);
    member.last_ = Clock::now();
    // The first in the line waits for as many cores as it needs, and nobody overtakes it.
    changed_.wait_for(lock, kMostWait, [&] { return waiting_.front() == &member && n_free_ >= member.n_threads_; });
    waiting_.erase(place);
    n_free_ -= member.n_threads_;
    if (!waiting_.empty()) changed_.notify_all();
}

void ComputeTurns::give_back(Member & member) {
    if (member.n_threads_ == 0) return;
    std::lock_guard lock(mutex_);
    n_free_ += member.n_threads_;
    member.last_ = Clock::now();
    if (!waiting_.empty()) changed_.notify_all();
}

}  // namespace svc
