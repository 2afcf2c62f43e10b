// A machine as a cost model: what a step takes there, in milliseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace svc::simulation {

class Random {
  public:
    explicit Random(uint32_t seed) : engine_(seed) {}
    double between(double least, double most) { return std::uniform_real_distribution<double>(least, most)(engine_); }
    // Evenly over the orders of magnitude.
    double scale(double least, double most) { return std::exp(between(std::log(least), std::log(most))); }
    bool chance(double share) { return between(0, 1) < share; }
    double normal() { return std::normal_distribution<double>()(engine_); }
    Random fork() { return Random(engine_()); }

  private:
    std::mt19937 engine_;
};

struct Machine {
    double decode_ms = 3;      // a pass over the weights: a step's least
    double token_ms = 0.3;     // each sequence that decodes
    double row_ms = 0.2;       // a row of a prompt
    double slope_ms = 0.0001;  // more for each token in front of it
    double pass_ms = 0.3;      // a chunk's own pass beside sequences that decode
    double untiled = 1;  // so many times as long is attention of rows in chunks below a tile, and tiles are whole; 1: no tiles
    uint32_t flat_rows = 0;   // a device: as many rows cost what one costs
    double noise = 0;         // of each step, as a logarithm's deviation
    double outliers = 0;      // share of steps that take many times as long
    double change_at_ms = 0;  // the machine changes speed then ...
    double change = 1;        // ... by this

    bool is_kv_unified = false;  // or one for each sequence

    // Without noise. `depth`: in front of the prompts' rows, on average.
    double step_ms(uint32_t n_decoding, uint32_t n_prefill, double depth, double at_ms = 0) const {
        const double speed = change_at_ms > 0 && at_ms > change_at_ms ? change : 1;
        if (flat_rows > 0) {
            const double filled = (n_decoding + n_prefill) / static_cast<double>(flat_rows);
            return speed * (decode_ms * std::max(1.0, filled) + slope_ms * depth * n_prefill);
        }
        double ms = n_decoding > 0 ? decode_ms + n_decoding * token_ms : 0;
        if (n_prefill > 0)
            ms += (n_decoding > 0 ? pass_ms : decode_ms) + n_prefill * row_ms + attention_ms(n_decoding, n_prefill, depth);
        return speed * ms;
    }

    std::string description() const {
        auto part = [](const char * name, double value) { return std::string(name) + ' ' + std::to_string(value) + ' '; };
        return part("decode", decode_ms) + part("row", row_ms) + part("slope", slope_ms) + part("untiled", untiled) +
               part("flat", flat_rows) + part("noise", noise) + part("outliers", outliers) + part("change", change);
    }

  private:
    // In one buffer for all, the rows of streams lie in the chunk's tiles; else a token of the prompt goes with those.
    double attention_ms(uint32_t n_decoding, uint32_t n_prefill, double depth) const {
        const double row_ms = slope_ms * depth;
        if (untiled <= 1) return n_prefill * row_ms;
        const uint32_t n_apart = n_decoding > 0 && !is_kv_unified ? 1 : 0;
        const uint32_t n_rows = n_prefill - n_apart + (is_kv_unified ? n_decoding : 0);
        if (n_rows < 64) return n_prefill * row_ms * untiled;
        return (std::ceil(n_rows / 64.0) * 64 + n_apart * untiled) * row_ms;
    }
};

// From a tenth to a hundred times of a machine with a row in 0.2 ms, tiled or not, or a device.
inline Machine random_steady_machine(Random & random) {
    Machine machine;
    const double slower = random.scale(0.01, 10);
    machine.decode_ms = 3 * slower * random.scale(0.3, 3);
    machine.row_ms = 0.2 * slower * random.scale(0.5, 2);
    machine.token_ms = machine.row_ms * random.between(0.5, 2);
    machine.slope_ms = machine.row_ms / random.scale(800, 30000);
    machine.pass_ms = machine.decode_ms * random.between(0, 0.3);
    machine.is_kv_unified = random.chance(0.3);
    machine.untiled = random.chance(0.6) ? random.between(1.5, 4) : 1;
    if (random.chance(0.2)) {
        machine.flat_rows = random.chance(0.5) ? 256 : 512;
        machine.slope_ms = machine.decode_ms / 512 / random.scale(2000, 100000);
    }
    return machine;
}

inline Machine random_machine(Random & random) {
    auto machine = random_steady_machine(random);
    machine.noise = random.chance(0.7) ? random.between(0, 0.2) : 0;
    machine.outliers = random.chance(0.3) ? random.between(0, 0.03) : 0;
    if (random.chance(0.3)) {
        machine.change_at_ms = machine.row_ms * random.scale(1000, 20000);
        machine.change = random.scale(0.2, 5);
    }
    return machine;
}

}  // namespace svc::simulation
