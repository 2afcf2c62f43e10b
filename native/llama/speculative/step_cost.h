// What a decode step costs by the number of its rows, learned from the steps themselves.
#pragma once

#include <cstdint>
#include <vector>

namespace svc {

class StepCost {
  public:
    explicit StepCost(uint32_t n_most_rows);

    // Expected milliseconds for one pass over `rows` rows. Unknown counts are interpolated, or guessed from the slope.
    double of(uint32_t rows) const;
    bool is_known(uint32_t rows) const { return entries_[clamped(rows)].n_seen > 0; }
    // The largest known count.
    uint32_t n_known() const { return n_known_; }
    // Feeds one step that made a pass for each entry of `passes` and took `ms`.
    void observe(const std::vector<uint32_t> & passes, double ms);

  private:
    struct Entry {
        double ms = 0;  // at level 1; 0: never seen
        uint32_t n_seen = 0;
        uint64_t at_step = 0;
    };

    void forget_old();
    void interpolate();
    uint32_t clamped(uint32_t rows) const;

    std::vector<Entry> entries_;  // by rows
    std::vector<double> curve_;   // entries_ with the gaps filled, at level 1
    // What makes all steps slower at once: longer contexts, other processes.
    double level_ = 1;
    uint64_t n_steps_ = 0;
    uint32_t n_known_ = 0;
};

}  // namespace svc
