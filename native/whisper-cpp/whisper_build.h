// What whisper.cpp is compiled with, and a function in the place of one of its own.
#pragma once

#include "ggml-backend.h"
#include "whisper.h"

extern "C" {

// whisper.cpp calls it in place of ggml_backend_sched_graph_compute. Defined by whoever links it.
enum ggml_status svc_whisper_graph_compute(ggml_backend_sched_t sched, struct ggml_cgraph * graph);

// whisper_full_with_state() that forgets what earlier recordings left in the state, its random numbers and whether somebody
// spoke: the same samples give the same text in a used state as in a new one.
int svc_whisper_full(struct whisper_context * model, struct whisper_state * state, struct whisper_full_params params,
                     const float * samples, int n_samples);
}
