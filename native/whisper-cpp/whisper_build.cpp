// whisper.cpp as it is, with two of ggml's functions under other names: a pass is computed in slices (whisper_build.h), and the
// log of ggml, which llama.cpp has taken, is left to it.
#include <algorithm>

#include "ggml-backend.h"

static enum ggml_status compute_pass(ggml_backend_sched_t sched, struct ggml_cgraph * graph);
extern "C" void svc_whisper_leave_log(ggml_log_callback, void *) {}

#define ggml_backend_sched_graph_compute compute_pass
#define ggml_log_set svc_whisper_leave_log
#include "whisper.cpp"

#include "whisper_build.h"

namespace {

struct Decoding {
    whisper_context * model;
    whisper_state * state;
};
thread_local Decoding decoding{};

// Whether nobody speaks is asked of the first row of what a prompt's pass gives, but that pass writes its last row alone: the
// first would be what an earlier recording left there. It belongs to the token that starts the transcript.
void keep_start(const Decoding & used, ggml_tensor * logits) {
    const int n_vocab = used.model->vocab.n_vocab;
    const auto & batch = used.state->batch;
    if (logits->ne[0] != n_vocab || batch.n_tokens < 2) return;
    const auto row = std::find(batch.token, batch.token + batch.n_tokens, used.model->vocab.token_sot) - batch.token;
    if (row == batch.n_tokens) return;
    const size_t n_bytes = sizeof(float) * static_cast<size_t>(n_vocab);
    auto & kept = used.state->logits;
    kept.resize(std::max(kept.size(), static_cast<size_t>(n_vocab)));
    ggml_backend_tensor_get(logits, kept.data(), static_cast<size_t>(row) * n_bytes, n_bytes);
}

}  // namespace

static enum ggml_status compute_pass(ggml_backend_sched_t sched, struct ggml_cgraph * graph) {
    const auto status = svc_whisper_graph_compute(sched, graph);
    if (status == GGML_STATUS_SUCCESS && decoding.state) keep_start(decoding, ggml_graph_node(graph, -1));
    return status;
}

extern "C" int svc_whisper_full(whisper_context * model, whisper_state * state, whisper_full_params params, const float * samples,
                                int n_samples) {
    state->decoders[0].rng = std::mt19937(0);
    decoding = {model, state};
    const int result = whisper_full_with_state(model, state, params, samples, n_samples);
    decoding = {};
    return result;
}
