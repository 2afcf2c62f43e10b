#include "kv_copier.h"

#include <algorithm>

namespace svc {

void KvCopier::advance(KvTransfer::Clock::time_point until) {
    if (advance(urgent_, until)) advance(idle_, until);
}

// True when the queue is empty.
bool KvCopier::advance(std::deque<Work> & queue, KvTransfer::Clock::time_point until) {
    while (!queue.empty()) {
        auto & work = queue.front();
        const auto begin = KvTransfer::Clock::now();
        const size_t n_before = work.transfer->n_done();
        const bool is_valid = work.is_valid();
        if (is_valid) {
            if (!work.transfer->advance(until, pool_)) return false;
            const std::chrono::duration<double, std::milli> spent = KvTransfer::Clock::now() - begin;
            const auto n_bytes = static_cast<double>(work.transfer->n_done() - n_before);
            if (n_bytes > 65536) bytes_per_ms_ = n_bytes / std::max(0.001, spent.count());
        }
        auto finished = std::move(work);
        queue.pop_front();
        finished.done(*finished.transfer, is_valid);
        if (KvTransfer::Clock::now() >= until) return queue.empty();
    }
    return true;
}

}  // namespace svc
