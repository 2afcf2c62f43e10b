// thread-choice-test: a ThreadChoice beside programs that come and go, with steps whose time is computed. Prints, for each scene,
// the threads that it ends with and how much of the work was done of what the best number throughout would have done.
#include "../compute/thread_choice.h"

#include <algorithm>
#include <cstdio>

namespace {

using svc::Clock;

// A step of two threads' work on two cores.
struct Machine {
    bool is_shared = false;     // another program burns a core
    bool is_switching = false;  // threads of ours are interrupted, which costs nothing
    int32_t n_threads = 2;      // of the last step

    bool is_contended() const { return is_switching || (is_shared && n_threads > 1); }

    double step_ms(int32_t n) {
        n_threads = n;
        const double alone = n_threads > 1 ? 7 : 13;
        return is_shared && n_threads > 1 ? 20 : alone;
    }
};

}  // namespace

int main() {
    Machine machine;
    svc::ThreadChoice choice(2, [&] { return machine.is_contended(); });
    Clock::time_point now = Clock::now();
    auto play = [&](const char * scene, double seconds, uint32_t n_rows) {
        const auto end = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        double done = 0;
        double possible = 0;
        while (now < end) {
            const double ms = machine.step_ms(choice.n_threads());
            const double best = machine.is_shared ? 13 : 7;
            done += 1;
            possible += ms / best;
            now += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
            choice.observe(ms, n_rows, now);
        }
        if (scene) std::printf("%s: %d threads, %.2f\n", scene, choice.n_threads(), done / possible);
    };
    play("alone", 10, 8);
    machine.is_shared = true;
    play("shared", 10, 8);
    play("shared, with prompts in every step", 1, 0);
    machine.is_shared = false;
    play("alone again", 20, 8);
    machine.is_shared = true;
    bool prompts = false;
    for (int i = 0; i < 20; i++) play(i < 19 ? nullptr : "shared, with a prompt now and then", 0.5, (prompts = !prompts) ? 8 : 0);
    machine.is_shared = false;
    for (int i = 0; i < 200; i++)
        play(i < 199 ? nullptr : "alone, with prompts all the time", 0.04, (prompts = !prompts) ? 8 : 0);
    play("alone once more", 20, 8);
    machine.is_switching = true;
    play("interrupted by our own threads", 60, 8);
    machine.is_switching = false;
    machine.is_shared = true;
    now += std::chrono::seconds(5);
    play("shared after a rest", 10, 8);
    return 0;
}
