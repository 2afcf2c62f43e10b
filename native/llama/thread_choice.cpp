#include "thread_choice.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace svc {

namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr double kCrowdPerSecond = 2500;
// Steps that are compared; those right after a change are not counted.
constexpr uint32_t kSteps = 6;
constexpr uint32_t kSettling = 2;
constexpr auto kPauseAfterPrompt = std::chrono::milliseconds(250);
constexpr auto kFirstPause = std::chrono::seconds(1);
constexpr auto kLongestPause = std::chrono::seconds(64);
// With fewer threads than all, others may have gone: that is looked for more often.
constexpr auto kLongestWithout = std::chrono::seconds(4);
// Where steps never resemble each other for long, all threads are the safer choice.
constexpr auto kLongestUnjudged = std::chrono::seconds(6);
constexpr auto kIdle = std::chrono::seconds(1);
// Another number has to be better by this much.
constexpr double kWorthwhile = 0.95;

}  // namespace

ThreadChoice::ThreadChoice(int32_t n_most, std::function<uint64_t()> count_switches)
    : n_most_(std::max(1, n_most)), count_switches_(std::move(count_switches)), n_threads_(n_most_), pause_(kFirstPause) {}

void ThreadChoice::observe(double ms, uint32_t n_rows, Clock::time_point now) {
    if (n_most_ < 2) return;
    const bool is_stale = n_threads_ < n_most_ && n_before_ == 0 && now - judged_ > kLongestUnjudged;
    if (is_stale || now - last_step_ > kIdle) start_over(now);
    last_step_ = now;
    if (n_rows == 0 || n_rows != n_rows_) {
        n_rows_ = n_rows;
        n_steps_ = 0;
        // Nothing can be compared any more.
        if (n_before_ > 0) n_threads_ = std::exchange(n_before_, 0);
        next_try_ = std::max(next_try_, now + kPauseAfterPrompt);
        return;
    }
    n_steps_++;
    const uint32_t n_counted = n_steps_ > kSettling ? n_steps_ - kSettling : 0;
    if (n_counted == 0) return;
    mean_ms_ += (ms - mean_ms_) / std::min(n_counted, kSteps);
    if (n_counted < kSteps) return;
    if (n_before_ > 0) judge(now);
    else if (now - counted_ >= kLook) look_around(now);
}

// After a rest nothing is known of others.
void ThreadChoice::start_over(Clock::time_point now) {
    n_threads_ = n_most_;
    n_before_ = 0;
    n_rows_ = 0;
    n_switches_ = count_switches_();
    counted_ = now;
    next_try_ = now;
    pause_ = kFirstPause;
}

void ThreadChoice::look_around(Clock::time_point now) {
    const uint64_t n_switches = count_switches_();
    const double seconds = std::chrono::duration<double>(now - counted_).count();
    const bool is_crowded = static_cast<double>(n_switches - n_switches_) > kCrowdPerSecond * seconds;
    n_switches_ = n_switches;
    counted_ = now;
    if (now < next_try_) return;
    if (is_crowded && n_threads_ > 1) attempt(n_threads_ - 1);
    else if (n_threads_ < n_most_) attempt(n_threads_ + 1);
}

void ThreadChoice::attempt(int32_t n_threads) {
    n_before_ = n_threads_;
    before_ms_ = mean_ms_;
    n_threads_ = n_threads;
    n_steps_ = 0;
}

void ThreadChoice::judge(Clock::time_point now) {
    judged_ = now;
    const bool is_better = mean_ms_ < kWorthwhile * before_ms_;
    if (is_better) {
        pause_ = kFirstPause;
    } else {
        n_threads_ = n_before_;
        n_steps_ = 0;
        pause_ = std::min<Clock::duration>(2 * pause_, n_threads_ < n_most_ ? kLongestWithout : kLongestPause);
    }
    n_before_ = 0;
    next_try_ = now + pause_;
    n_switches_ = count_switches_();
    counted_ = now;
}

uint64_t count_involuntary_switches() {
    struct rusage usage {};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_nivcsw) : 0;
}

}  // namespace svc
