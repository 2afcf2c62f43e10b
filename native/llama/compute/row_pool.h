// Threads that share the rows of one step. They sleep between steps; a step whose rows are cheap never wakes them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace svc {

class RowPool {
  public:
    // The calling thread counts as one of n_threads.
    explicit RowPool(uint32_t n_threads);
    ~RowPool();

    // Calls work(row) once for each row below n_rows and returns when all are done. `work` must not throw.
    void run(size_t n_rows, const std::function<void(size_t)> & work);

  private:
    void end();
    void help();
    void take_rows();

    std::vector<std::thread> helpers_;
    double row_us_ = 0;  // measured cost of a row by itself, whoever computes it
    std::atomic<double> busy_us_{0};

    std::mutex mutex_;
    std::condition_variable begin_;
    std::condition_variable end_;
    uint64_t n_runs_ = 0;
    size_t n_busy_ = 0;  // helpers in the running step
    bool closing_ = false;
    const std::function<void(size_t)> * work_ = nullptr;
    size_t n_rows_ = 0;
    std::atomic<size_t> next_row_{0};
};

}  // namespace svc
