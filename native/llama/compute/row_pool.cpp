#include "row_pool.h"

#include <chrono>
#include <new>
#include <system_error>

#include "../tuning/tuning.h"

namespace svc {

namespace {

// Adds the time of its life, in microseconds.
class RowTime {
  public:
    explicit RowTime(std::atomic<double> & sum) : sum_(sum) {}
    ~RowTime() {
        const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_).count();
        for (double sum = sum_; !sum_.compare_exchange_weak(sum, sum + us);) {
        }
    }
    RowTime(const RowTime &) = delete;
    RowTime & operator=(const RowTime &) = delete;

  private:
    std::atomic<double> & sum_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

RowPool::RowPool(uint32_t n_threads) {
    try {
        helpers_.reserve(n_threads);
        for (uint32_t i = 1; i < n_threads; i++) helpers_.emplace_back([this] { help(); });
    } catch (const std::bad_alloc &) {
        end();
        throw;
    } catch (const std::system_error &) {
        // Those that can be had are enough; the caller works in any case.
    }
}

RowPool::~RowPool() { end(); }

void RowPool::end() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
    }
    begin_.notify_all();
    for (auto & helper : helpers_) helper.join();
}

void RowPool::run(size_t n_rows, const std::function<void(size_t)> & work) {
    if (n_rows == 0) return;
    busy_us_ = 0;
    const bool shared = !helpers_.empty() && n_rows > 1 && row_us_ * static_cast<double>(n_rows) > kTuning.shared_rows_us;
    if (shared) {
        {
            std::lock_guard lock(mutex_);
            work_ = &work;
            n_rows_ = n_rows;
            next_row_ = 0;
            n_busy_ = helpers_.size();
            n_runs_++;
        }
        begin_.notify_all();
        take_rows();
        std::unique_lock lock(mutex_);
        end_.wait(lock, [this] { return n_busy_ == 0; });
        work_ = nullptr;
    } else {
        const RowTime time(busy_us_);
        for (size_t row = 0; row < n_rows; row++) work(row);
    }
    // What it took to wake helpers and to wait for them is left out: sharing must not make rows look worth it.
    row_us_ = 0.8 * row_us_ + 0.2 * busy_us_ / static_cast<double>(n_rows);
}

void RowPool::help() {
    uint64_t n_seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        begin_.wait(lock, [&] { return closing_ || n_runs_ != n_seen; });
        if (closing_) return;
        n_seen = n_runs_;
        lock.unlock();
        take_rows();
        lock.lock();
        if (--n_busy_ == 0) end_.notify_one();
    }
}

void RowPool::take_rows() {
    const RowTime time(busy_us_);
    for (size_t row = next_row_++; row < n_rows_; row = next_row_++) (*work_)(row);
}

}  // namespace svc
