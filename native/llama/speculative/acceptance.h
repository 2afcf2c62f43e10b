// How often drafted tokens turn out right, by how they were drafted.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "../tuning/tuning.h"

namespace svc {

// Longer repetitions are better guesses, so each length class keeps its own record; the draft model is one more.
enum class DraftKind : uint8_t { Match2, Match3, Match4, Match8, Match16, Model };
constexpr size_t kDraftKinds = 6;

inline DraftKind kind_of_match(uint32_t length) {
    if (length < 3) return DraftKind::Match2;
    if (length < 4) return DraftKind::Match3;
    if (length < 8) return DraftKind::Match4;
    return length < 16 ? DraftKind::Match8 : DraftKind::Match16;
}

class Acceptance {
  public:
    // Share of hits; while little was seen here, `prior` speaks.
    double probability(DraftKind kind, double prior) const {
        const auto & record = records_[static_cast<size_t>(kind)];
        return (record.hits + kTuning.acceptance_prior_weight * prior) / (record.trials + kTuning.acceptance_prior_weight);
    }

    void observe(DraftKind kind, bool hit) {
        auto & record = records_[static_cast<size_t>(kind)];
        record.trials++;
        if (hit) record.hits++;
        if (record.trials <= kTuning.acceptance_window) return;
        record.hits *= kTuning.acceptance_window / record.trials;
        record.trials = kTuning.acceptance_window;
    }

  private:
    struct Record {
        double hits = 0;
        double trials = 0;
    };
    std::array<Record, kDraftKinds> records_{};
};

}  // namespace svc
