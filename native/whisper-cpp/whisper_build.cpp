// whisper.cpp as it is, with two of ggml's functions under other names: a pass is computed in slices (whisper_build.h), and the
// log of ggml, which llama.cpp has taken, is left to it.
#define ggml_backend_sched_graph_compute svc_whisper_graph_compute
#define ggml_log_set svc_whisper_leave_log
#include "whisper.cpp"

extern "C" void svc_whisper_leave_log(ggml_log_callback, void *) {}

extern "C" void svc_whisper_rewind(whisper_state * state) { state->decoders[0].rng = std::mt19937(0); }
