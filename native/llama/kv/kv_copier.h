// Transfers that are under way, advanced a slice at a time between steps: those that somebody waits for first.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "../../common/estimate.h"
#include "kv_transfer.h"

namespace svc {

class KvCopier {
  public:
    struct Work {
        std::unique_ptr<KvTransfer> transfer;
        // False when the cells that it reads or writes have been given away.
        std::function<bool()> is_valid;
        // `whole`: false when it was given up.
        std::function<void(KvTransfer &, bool whole)> done;
    };

    explicit KvCopier(uint32_t n_threads) : pool_(n_threads) {}

    void add_urgent(Work work) { urgent_.push_back(std::move(work)); }
    void add(Work work) { idle_.push_back(std::move(work)); }
    // Copies until all is done or `until` has passed.
    void advance(KvTransfer::Clock::time_point until);
    bool has_work() const { return !urgent_.empty() || !idle_.empty(); }
    // Measured; 0 before the first.
    double bytes_per_ms() const { return bytes_per_ms_.value(); }

  private:
    bool advance(std::deque<Work> & queue, KvTransfer::Clock::time_point until);

    RowPool pool_;
    std::deque<Work> urgent_;
    std::deque<Work> idle_;
    Estimate bytes_per_ms_;
};

}  // namespace svc
