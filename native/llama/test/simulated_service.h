// Loads on a simulated machine, with the engine's planner or with chunks of a fixed size.
#pragma once

#include <vector>

#include "../planning/prefill_planner.h"
#include "simulated_machine.h"

namespace svc::simulation {

struct SimulatedJob {
    double at_ms;
    size_t n_prompt;
    size_t n_answer;
};

struct SimulatedLoad {
    std::vector<SimulatedJob> jobs;
    size_t n_parallel = 4;
};

// Of an engine that has been running.
StepEstimates settled_estimates(const Machine & machine);

SimulatedLoad random_load(Random & random, const Machine & machine);

struct Outcome {
    double ms = 0;         // until all jobs are done, without noise
    double worst_gap = 0;  // of steps beside streams, as a share of gap_bound_ms; those after a surprise not counted
    uint32_t n_over = 0;   // steps that exceeded it, those after a surprise counted
    uint32_t n_steps = 0;
};

// `chunk`: 0 for the planner. The plans see what noisy steps take, and are judged by what they would take without noise.
Outcome run(const Machine & machine, const SimulatedLoad & load, uint32_t chunk, Random random);

// What a machine makes of a false belief, 20 steps later.
struct Recovery {
    double cost;       // of a prompt's token, as a multiple of what it costs an engine that knows the machine
    double worst_gap;  // as a share of gap_bound_ms
};

// Beside streams, with a prompt that does not end, after the estimates believed that the machine is another.
Recovery recover(const Machine & machine, const Machine & believed, uint32_t n_decoding, size_t depth);

// Tokens of others that are evaluated before a long prompt is, as a multiple of its own, while short ones come all the time.
double tokens_before_the_long_one(const Machine & machine, Random & random);

}  // namespace svc::simulation
