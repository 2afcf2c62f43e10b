#include "decoder.h"

#include <algorithm>
#include <vector>

#include "../../common/memory_wait.h"
#include "../context/context.h"
#include "../model/device_fault.h"
#include "mtmd-helper.h"

namespace svc {

Decoder::Decoder(const Model & model, llama_context * context, const EngineLimits & limits, int32_t n_batch_threads)
    : model_(model),
      context_(context),
      batch_(static_cast<int32_t>(llama_n_batch(context))),
      compute_(join_core_arbitration(limits)),
      n_threads_(limits.n_threads),
      n_batch_threads_(n_batch_threads) {
    if (limits.weights.device <= 0) choice_.emplace(n_threads_, [this] { return contention_.is_contended(); });
}

void Decoder::warm_up() {
    const CoreGrant grant(*compute_);
    svc::warm_up(model_, context_, batch_);
}

void Decoder::use_adapters(const Generation & of) {
    const auto & job = *of.job;
    if (job.lora_key == adapters_) return;
    const MemoryWait wait;
    std::string key = job.lora_key;
    std::vector<llama_adapter_lora *> adapters;
    std::vector<float> scales;
    for (const auto & [name, scale] : job.options.loras) {
        adapters.push_back(model_.loras().at(name));
        scales.push_back(scale);
    }
    llama_set_adapters_lora(context_, adapters.data(), adapters.size(), scales.data());
    adapters_ = std::move(key);
}

void Decoder::add(Generation & generation) {
    generation.first_row = batch_.size();
    if (generation.state == Generation::State::Prefill) add_prompt(generation);
    else add_next(generation);
}

// The generation's next token, and what was drafted behind it.
void Decoder::add_next(Generation & generation) {
    const auto & sequence = *generation.sequence;
    auto pos = sequence.n_pos;
    generation.batch_index = batch_.add(generation.next, pos, sequence.id, true);
    for (auto token : generation.drafting.tokens) batch_.add(token, ++pos, sequence.id, true);
}

void Decoder::add_prompt(Generation & generation) {
    const auto & sequence = *generation.sequence;
    const size_t begin = sequence.tokens.size();
    for (size_t i = begin; i < begin + generation.n_planned; i++) {
        const bool last = i + 1 == generation.tokens.size();
        const auto pos = sequence.n_pos + static_cast<llama_pos>(i - begin);
        const int32_t row = batch_.add(generation.tokens[i], pos, sequence.id, last);
        if (last) generation.batch_index = row;
    }
}

Decoder::Result Decoder::evaluate() {
    choose_threads();
    std::optional<CoreGrant> grant(*compute_);
    const auto begin = Clock::now();
    int32_t code = 0;
    auto thrown = catch_status([&] {
        code = llama_decode(context_, batch_.raw());
        llama_synchronize(context_);
    });
    grant.reset();
    const MemoryWait wait;
    if (!thrown.code.empty()) return {Result::Kind::Failed, std::move(thrown), 0};
    if (code == 1) return {Result::Kind::NoCells, {}, 0};
    if (code == 0) return {Result::Kind::Done, {}, ms_between(begin, Clock::now())};
    return {Result::Kind::Failed, {"internal", "a step could not be evaluated (" + std::to_string(code) + ")"}, 0};
}

Decoder::Result Decoder::evaluate_image(const MediaChunk & image, const Sequence & sequence, llama_pos & n_pos) {
    int32_t code = 0;
    n_pos = sequence.n_pos;
    const auto thrown = catch_status([&] {
        const CoreGrant grant(*compute_);
        code = mtmd_helper_eval_chunk_single(model_.projector(), context_, image.chunk.get(), sequence.n_pos, sequence.id,
                                             static_cast<int32_t>(llama_n_batch(context_)), false, &n_pos);
    });
    if (code == 0 && thrown.code.empty()) return {};
    const MemoryWait wait;
    if (thrown.code == kDeviceFailed) return {Result::Kind::Failed, thrown, 0};
    return {Result::Kind::Failed, {"invalid_media", "an image could not be evaluated"}, 0};
}

void Decoder::choose_threads() {
    if (!choice_) return;
    const int32_t n = choice_->n_threads();
    llama_set_n_threads(context_, n, n < n_threads_ ? std::min(n, n_batch_threads_) : n_batch_threads_);
}

void Decoder::observe(double ms, uint32_t n_rows) {
    if (choice_) choice_->observe(ms, n_rows, Clock::now());
}

ComputeUse Decoder::compute_use() const {
    return {static_cast<uint32_t>(choice_ ? choice_->n_threads() : n_threads_), contention_.state()};
}

}  // namespace svc
