// How long the calling thread may follow grammars. A grammar can be written so that a single character takes seconds; a step,
// which others wait for, breaks such work off and leaves it to a thread of its own (decoding/late_rows.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <ctime>
#include <exception>

#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

// The budget is spent. What was found out is kept, so that the next attempt comes further.
class GrammarLate : public std::exception {
  public:
    const char * what() const noexcept override { return "the grammar takes too long"; }
};

class GrammarBudget {
  public:
    enum class Kind {
        Step,    // of the clock on the wall, and no large piece of work is begun: some pieces cannot be broken off
        Thread,  // of the processor's time that the thread gets
    };

    // While this lives, spend() throws on this thread once `ms` have passed, or `stop` is true. `stop` may be null.
    GrammarBudget(Kind kind, double ms, const std::atomic<bool> * stop = nullptr) : before_(current_) {
        const auto clock = kind == Kind::Step ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
        current_ = {true, kind == Kind::Step, clock, ms_of(clock) + ms, stop, 0};
    }
    ~GrammarBudget() { current_ = before_; }
    GrammarBudget(const GrammarBudget &) = delete;
    GrammarBudget & operator=(const GrammarBudget &) = delete;

    // Counts so many small pieces of work, each about as long as a look-up. Throws GrammarLate.
    static void spend(size_t n_pieces = 1) {
        current_.n_spent += n_pieces;
        if (current_.n_spent >= kPiecesPerLook) look();
    }
    // Throws GrammarLate.
    static void look() {
        current_.n_spent = 0;
        if (!current_.is_bounded) return;
        if ((current_.stop && *current_.stop) || ms_of(current_.clock) >= current_.until_ms) throw GrammarLate();
    }
    // Before a piece of work that cannot be broken off and is made of so many small ones. Throws GrammarLate.
    static void begin(size_t n_pieces) {
        if (current_.is_step && n_pieces > kTuning.grammar_step_pieces) throw GrammarLate();
        spend(n_pieces);
    }
    // Before work of others that looks at no budget: throws GrammarLate where so many pieces do not fit into what is left.
    static void reserve(size_t n_pieces) {
        if (!current_.is_bounded) return;
        look();
        const double left_ms = current_.until_ms - ms_of(current_.clock);
        if (static_cast<double>(n_pieces) > left_ms * kTuning.grammar_pieces_per_ms) throw GrammarLate();
    }
    // Whether others wait for what the calling thread does.
    static bool is_step() { return current_.is_step; }

    static double ms_of(clockid_t clock) {
        timespec time{};
        clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    }

  private:
    struct State {
        bool is_bounded;
        bool is_step;
        clockid_t clock;
        double until_ms;
        const std::atomic<bool> * stop;
        size_t n_spent;
    };
    static constexpr size_t kPiecesPerLook = 128;

    static inline thread_local State current_{};  // not bounded

    State before_;
};

[[noreturn]] inline void refuse_late_grammar() {
    throw StatusError("grammar_too_complex",
                      "the grammar, the schema or the tools take too long to compile; make them smaller, or less ambiguous");
}

}  // namespace svc
