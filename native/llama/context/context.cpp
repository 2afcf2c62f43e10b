#include "context.h"

#include "../../common/status.h"
#include "../model/backend.h"
#include "../model/device_fault.h"
#include "../model/model.h"

namespace svc {

ContextPtr create_context(const Model & model, const llama_context_params & params) {
    take_error_log();
    ContextPtr context(llama_init_from_model(model.raw(), params));
    if (!context) throw_device_fault();
    if (!context)
        throw StatusError("out_of_memory",
                          "the context cannot be created (less context or fewer sequences may help): " + take_error_log());
    return context;
}

void warm_up(const Model & model, llama_context * context, Batch & batch) {
    const auto bos = llama_vocab_bos(model.vocab());
    batch.add(bos == LLAMA_TOKEN_NULL ? 0 : bos, 0, 0, true);
    llama_decode(context, batch.raw());
    llama_synchronize(context);
    llama_memory_clear(llama_get_memory(context), true);
    batch.clear();
}

}  // namespace svc
