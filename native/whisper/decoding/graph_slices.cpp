#include "graph_slices.h"

#include <algorithm>

#include "../../whisper-cpp/whisper_build.h"

namespace svc {

namespace {

// Passes in fewer pieces : gaps of streams beside them.
constexpr double kSliceMs = 20;
// Multiplications in a millisecond, until slices are measured.
constexpr double kAssumedWorkPerMs = 1e7;
constexpr double kKept = 0.7;

thread_local GraphSlices * current_slices = nullptr;

// About how many multiplications a node comes to.
double work_of(const ggml_tensor * node) {
    const auto n_results = static_cast<double>(ggml_nelements(node));
    const auto width = [&](int source) { return static_cast<double>(node->src[source]->ne[0]); };
    if (node->op == GGML_OP_MUL_MAT) return n_results * width(0);
    if (node->op == GGML_OP_FLASH_ATTN_EXT) return 2 * n_results * static_cast<double>(node->src[1]->ne[1]);
    return n_results;
}

}  // namespace

GraphSlices::Scope::Scope(GraphSlices & slices, CoreUse use, std::function<bool()> is_over) {
    slices.use_ = use;
    slices.is_over_ = std::move(is_over);
    if (slices.work_per_ms_ <= 0) slices.work_per_ms_ = kAssumedWorkPerMs;
    current_slices = &slices;
}

GraphSlices::Scope::~Scope() { current_slices = nullptr; }

GraphSlices * GraphSlices::current() { return current_slices; }

ggml_status GraphSlices::compute(ggml_backend_sched_t sched, ggml_cgraph * graph) {
    if (is_over_()) return GGML_STATUS_ABORTED;
    is_stopped_ = false;
    ggml_backend_sched_set_eval_callback(sched, on_node, this);
    begin();
    const auto status = ggml_backend_sched_graph_compute(sched, graph);
    end();
    ggml_backend_sched_set_eval_callback(sched, nullptr, nullptr);
    return is_stopped_ ? GGML_STATUS_ABORTED : status;
}

// Asked ahead, of one node after the other, which of them ends a slice; then again when the slice is computed.
bool GraphSlices::on_node(ggml_tensor * node, bool is_ahead, void * self) {
    auto & slices = *static_cast<GraphSlices *>(self);
    if (is_ahead) {
        slices.work_ += work_of(node);
        return slices.work_ >= kSliceMs * slices.work_per_ms_;
    }
    slices.end();
    slices.is_stopped_ = slices.is_over_();
    slices.begin();
    return !slices.is_stopped_;
}

void GraphSlices::begin() {
    work_ = 0;
    grant_.emplace(compute_, use_);
    began_ = Clock::now();
}

void GraphSlices::end() {
    const double ms = ms_between(began_, Clock::now());
    grant_.reset();
    longest_ms_ = std::max<double>(longest_ms_, ms);
    if (ms > 1 && work_ > 0) work_per_ms_ = kKept * work_per_ms_ + (1 - kKept) * work_ / ms;
}

}  // namespace svc

ggml_status svc_whisper_graph_compute(ggml_backend_sched_t sched, ggml_cgraph * graph) {
    auto * slices = svc::GraphSlices::current();
    return slices ? slices->compute(sched, graph) : ggml_backend_sched_graph_compute(sched, graph);
}
