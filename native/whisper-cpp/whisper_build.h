// What whisper.cpp is compiled with, and one more function on its states.
#pragma once

#include "ggml-backend.h"
#include "whisper.h"

extern "C" {

// whisper.cpp calls it in place of ggml_backend_sched_graph_compute. Defined by whoever links it.
enum ggml_status svc_whisper_graph_compute(ggml_backend_sched_t sched, struct ggml_cgraph * graph);

// Forgets what earlier recordings left in the state and whisper_full_with_state() keeps: its random numbers. The same samples
// then give the same text in a used state as in a new one.
void svc_whisper_rewind(struct whisper_state * state);
}
