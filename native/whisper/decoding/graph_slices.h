// A pass of a speech model is one graph, which takes seconds. It is computed in slices of some milliseconds, between which the
// cores go to whoever waits for them, and the pass ends once nobody waits for its result.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "../../scheduling/core_arbiter.h"
#include "ggml-backend.h"

namespace svc {

class GraphSlices {
  public:
    explicit GraphSlices(uint32_t n_threads) : compute_(n_threads) {}

    // What the calling thread computes while one lives is sliced.
    class Scope {
      public:
        // `is_over`: whether the result is wanted no more.
        Scope(GraphSlices & slices, CoreUse use, std::function<bool()> is_over);
        ~Scope();
        Scope(const Scope &) = delete;
        Scope & operator=(const Scope &) = delete;
    };

    // Of the calling thread; null outside of a scope.
    static GraphSlices * current();
    // ABORTED: the pass ended early, which a scheduler's callback alone would report as success.
    ggml_status compute(ggml_backend_sched_t sched, ggml_cgraph * graph);
    // For which the cores were held at once.
    double longest_ms() const { return longest_ms_; }

  private:
    static bool on_node(ggml_tensor * node, bool is_ahead, void * self);
    void begin();
    void end();

    CoreArbiter::Member compute_;
    CoreUse use_ = CoreUse::kRecording;
    std::function<bool()> is_over_;
    std::optional<CoreGrant> grant_;
    bool is_stopped_ = false;
    Clock::time_point began_{};
    double work_ = 0;
    double work_per_ms_ = 0;  // as measured; 0: nothing was
    std::atomic<double> longest_ms_{0};
};

}  // namespace svc
