#include "kv_copier.h"

#include <algorithm>
#include <ctime>

#include "../../common/status.h"

namespace svc {

namespace {

// What the copying itself takes: while this thread waits for a core, which on a busy machine is most of the time, nothing is
// copied, and an evaluation would wait as well. A device copies while this thread sleeps.
double spent_ms(const KvTransfer & transfer) {
    timespec time{};
    clock_gettime(transfer.is_host() ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace

void KvCopier::advance(KvTransfer::Clock::time_point until) {
    if (advance(urgent_, until)) advance(idle_, until);
}

// True when the queue is empty.
bool KvCopier::advance(std::deque<Work> & queue, KvTransfer::Clock::time_point until) {
    while (!queue.empty()) {
        auto & work = queue.front();
        const double begin = spent_ms(*work.transfer);
        const size_t n_before = work.transfer->n_done();
        bool is_valid = work.is_valid();
        if (is_valid) {
            bool is_done = true;
            // What broke off in the middle is given up: its pieces are not all where they belong.
            is_valid = catch_status([&] { is_done = work.transfer->advance(until, pool_); }).code.empty();
            if (!is_done) return false;
            const double spent = spent_ms(*work.transfer) - begin;
            const auto n_bytes = static_cast<double>(work.transfer->n_done() - n_before);
            if (n_bytes > 65536) bytes_per_ms_.observe(n_bytes / std::max(0.001, spent));
        }
        auto finished = std::move(work);
        queue.pop_front();
        finished.done(*finished.transfer, is_valid);
        if (KvTransfer::Clock::now() >= until) return queue.empty();
    }
    return true;
}

}  // namespace svc
