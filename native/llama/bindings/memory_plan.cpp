#include "memory_plan.h"

#include <algorithm>

#include <sys/stat.h>

#include "../../common/status.h"
#include "../context/context_plan.h"
#include "../embed/embedder.h"
#include "../model/device.h"
#include "../model/model.h"

namespace svc {

namespace {

struct PlannedContext {
    MemoryUse weights;
    MemoryUse context;
    uint32_t n_ctx_seq;
};

PlannedContext plan_context(const Model & model, const llama_context_params & params, uint32_t n_rows, bool mmap) {
    ContextPtr context(llama_init_from_model(model.raw(), params));
    if (!context) throw StatusError("out_of_memory", "a context of this size cannot be planned");
    return {mmap ? mapped_weights_of(context.get()) : weights_of(context.get()), memory_of(context.get(), n_rows),
            llama_n_ctx_seq(context.get())};
}

double file_bytes(const std::string & path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? static_cast<double>(info.st_size) : 0;
}

MemoryUse projector_of(const LoadOptions & load) {
    MemoryUse use;
    if (load.projector_path.empty()) return use;
    auto params = mtmd_context_params_default();
    params.use_gpu = load.n_gpu_layers != 0;
    for (const auto & [device, bytes] : mtmd_get_memory_usage(load.projector_path.c_str(), params)) {
        (is_gpu(device) ? use.device : use.host) += static_cast<double>(bytes);
    }
    return use;
}

}  // namespace

MemoryPlan plan_memory(const Model & model, const EngineOptions & options, const LoadOptions & load) {
    MemoryPlan plan;
    auto add = [&](const PlannedContext & planned, uint32_t & n_ctx) {
        plan.weights = planned.weights;
        n_ctx = std::min(planned.n_ctx_seq, n_ctx_usable(model, options));
        return planned.context;
    };
    if (llama_model_has_decoder(model.raw())) {
        const auto generation = plan_generation(model, options);
        plan.engine =
            add(plan_context(model, generation.params, generation.n_sequences + generation.n_draft_rows, uses_mmap(load)),
                plan.n_engine_ctx);
    }
    plan.embedder = add(plan_context(model, plan_embedding(model, options), 0, uses_mmap(load)), plan.n_embedder_ctx);
    plan.extras.host = model.heap_bytes();
    plan.extras += projector_of(load);
    // An adapter's tensors lie where the weights that they change do.
    auto & adapters = plan.weights.device > plan.weights.host ? plan.extras.device : plan.extras.host;
    for (const auto & lora : load.loras) adapters += file_bytes(lora.path);
    return plan;
}

}  // namespace svc
