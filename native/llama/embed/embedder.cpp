#include "embedder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../../common/memory_wait.h"
#include "../context/context_plan.h"
#include "../model/backend.h"
#include "../model/device_fault.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

constexpr double kLargestInt16 = 32760;

// As the options or the model's file say; a model that says nothing is averaged, as sentence embeddings of causal models commonly
// are.
enum llama_pooling_type pooling_of(const Model & model, const EngineOptions & options) {
    if (options.pooling != LLAMA_POOLING_TYPE_UNSPECIFIED) return options.pooling;
    auto text = model.meta((model.meta("general.architecture") + ".pooling_type").c_str());
    const int value = text.empty() ? LLAMA_POOLING_TYPE_NONE : std::atoi(text.c_str());
    return value <= LLAMA_POOLING_TYPE_NONE || value > LLAMA_POOLING_TYPE_RANK ? LLAMA_POOLING_TYPE_MEAN
                                                                               : static_cast<enum llama_pooling_type>(value);
}

// Lengths as llama.cpp's common_embd_normalize counts them (--embd-normalize).
double length_of(const float * values, int32_t count, int32_t norm) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        const double size = std::abs(static_cast<double>(values[i]));
        if (norm == 0) sum = std::max(sum, size / kLargestInt16);
        else sum += norm == 2 ? size * size : std::pow(size, norm);
    }
    if (norm == 2) return std::sqrt(sum);
    return norm <= 1 ? sum : std::pow(sum, 1.0 / norm);
}

std::vector<float> normalised(const float * values, int32_t count, int32_t norm) {
    std::vector<float> vector(values, values + count);
    if (norm < 0) return vector;
    const double length = length_of(values, count, norm);
    const float scale = length > 0 ? static_cast<float>(1.0 / length) : 0.0f;
    for (auto & value : vector) value *= scale;
    return vector;
}

size_t n_bytes_of(const EmbedRequest & request, size_t index) {
    const auto & input = request.inputs[index];
    const auto * tokens = std::get_if<std::vector<llama_token>>(&input);
    return request.query.size() + (tokens ? tokens->size() * sizeof(llama_token) : std::get<std::string>(input).size());
}

size_t n_bytes_of(const EmbedRequest & request) {
    size_t n_bytes = 0;
    for (size_t i = 0; i < request.inputs.size(); i++) n_bytes += n_bytes_of(request, i);
    return n_bytes;
}

// Puts the texts in the places of {query} and {document}; what they say themselves is neither a place nor a control token.
std::string fill_rerank_template(std::string_view source, std::string query, std::string document, const ControlTexts & control) {
    control.escape_control_texts(query);
    control.escape_control_texts(document);
    std::string text;
    while (!source.empty()) {
        const auto at = source.find('{');
        text += source.substr(0, at);
        if (at == std::string_view::npos) break;
        source.remove_prefix(at);
        const auto place = [&](std::string_view mark, const std::string & value) {
            if (source.substr(0, mark.size()) != mark) return false;
            text += value;
            source.remove_prefix(mark.size());
            return true;
        };
        if (place("{query}", query) || place("{document}", document)) continue;
        text += '{';
        source.remove_prefix(1);
    }
    return text;
}

}  // namespace

llama_context_params plan_embedding(const Model & model, const EngineOptions & options) {
    auto params = llama_context_default_params();
    const auto n_train = n_ctx_usable(model, options);
    params.n_ctx = options.n_ctx ? std::min(options.n_ctx, n_train) : std::min(n_train, kTuning.auto_embed_ctx);
    // A text is pooled in one physical batch.
    params.n_batch = std::max<uint32_t>(params.n_ctx, kTuning.pack_tokens);
    params.n_ubatch = params.n_batch;
    params.n_ctx = params.n_batch;
    params.n_seq_max = std::max(options.n_parallel, kTuning.auto_embed_sequences);
    params.kv_unified = true;
    // On a CPU flash attention skips what other texts' masks hide: mixed texts need a third less time. In return a vector's last
    // digits depend on what is computed beside it; `off` makes them independent.
    apply_options(params, options);
    params.embeddings = true;
    params.pooling_type = pooling_of(model, options);
    return params;
}

Embedder::Embedder(std::shared_ptr<Model> model, EngineOptions options)
    : model_(std::move(model)), pooling_(pooling_of(*model_, options)), norm_(options.embedding_norm) {
    if (model_->weightless()) throw StatusError("unsupported", "this model was loaded without its weights and cannot embed");
    const DeviceFaultScope scope;
    auto params = plan_embedding(*model_, options);
    take_error_log();
    context_.reset(llama_init_from_model(model_->raw(), params));
    if (!context_) throw_device_fault();
    if (!context_) throw StatusError("out_of_memory", "the context cannot be created: " + take_error_log());
    limits_.n_ctx = params.n_ctx;
    limits_.n_ctx_per_job = std::min<uint32_t>(params.n_batch, n_ctx_usable(*model_, options));
    limits_.n_parallel = params.n_seq_max;
    limits_.n_threads = params.n_threads;
    limits_.memory = memory_of(context_.get(), 0);
    limits_.weights = weights_of(context_.get());
    queue_.set_limits(queue_limits(options));
    batch_ = std::make_unique<Batch>(static_cast<int32_t>(params.n_batch));
    compute_ = join_core_arbitration(limits_);
    thread_ = std::thread([this] { run(); });
}

Embedder::~Embedder() { close(); }

void Embedder::submit(std::shared_ptr<EmbedRequest> request, int64_t timeout_ms) {
    if (request->rank && pooling_ != LLAMA_POOLING_TYPE_RANK)
        throw StatusError("unsupported", "this model embeds; it cannot rerank");
    if (request->truncates) shorten(*request);
    if (timeout_ms > 0) request->deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the embedder is closed");
    request->n_queued_tokens = queue_.enter(request->tenant, n_bytes_of(*request), timeout_ms);
    try {
        inbox_.push_back(request);
    } catch (...) {
        queue_.leave(request->tenant, request->n_queued_tokens);
        throw;
    }
    wake_.notify_one();
}

void Embedder::cancel(EmbedRequest & request) {
    std::lock_guard lock(mutex_);
    request.cancelled = true;
    is_notified_ = true;
    wake_.notify_one();
}

void Embedder::close() {
    std::lock_guard closing(close_mutex_);
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
        wake_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    if (device_failed_ || (model_ && model_->is_on_lost_device())) {
        keep_forever(batch_);
        keep_forever(context_);
        keep_forever(model_);
    }
    batch_.reset();
    context_.reset();
    model_.reset();
}

void Embedder::run() {
    const DeviceFaultScope scope;
    std::vector<std::shared_ptr<EmbedRequest>> taken;
    while (take(taken)) {
        for (auto & request : taken) {
            keep(request);
            auto status = catch_status([&] { prepare(request); });
            if (!status.code.empty()) complete(request, status);
        }
        taken.clear();
        drop_over();
        if (waiting_.empty()) continue;
        auto status = catch_status([this] { run_batch(); });
        if (status.code == kDeviceFailed) device_failed_ = true;
        for (const auto & text : packed_) {
            if (!status.code.empty()) complete(text.request, status);
        }
        packed_.clear();
        service_rate_.step(Clock::now(), !waiting_.empty());
        queue_.set_rate(service_rate_.per_second(1));
    }
    const MemoryWait wait;
    for (auto & request : taken) keep(request);
    while (!requests_.empty()) complete(requests_.front(), {"closed", "the embedder was closed"});
}

void Embedder::keep(const std::shared_ptr<EmbedRequest> & request) {
    const MemoryWait wait;
    requests_.push_back(request);
}

// Waits for work. False when the embedder closes.
bool Embedder::take(std::vector<std::shared_ptr<EmbedRequest>> & taken) {
    const MemoryWait wait;
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return closing_ || is_notified_ || !inbox_.empty() || !waiting_.empty(); });
    is_notified_ = false;
    taken.swap(inbox_);
    return !closing_;
}

// Ends requests that nobody waits for and those whose time has passed.
void Embedder::drop_over() {
    const MemoryWait wait;
    const auto now = Clock::now();
    const auto all = requests_;
    for (const auto & request : all) {
        if (request->cancelled) complete(request, {"closed", "the caller has gone"});
        else if (now >= request->deadline) complete(request, {"deadline_exceeded", "the request's time limit has passed"});
    }
}

void Embedder::prepare(const std::shared_ptr<EmbedRequest> & request) {
    if (request->cancelled) return;
    const size_t count = request->inputs.size();
    for (size_t i = 0; i < count && !request->truncates; i++) check_length(i, "at least ", least_tokens_of(*request, i));
    request->vectors.resize(count);
    request->n_tokens.resize(count);
    request->n_missing = count;
    if (count == 0) return complete(request, {});
    const MemoryWait wait;
    for (size_t i = 0; i < count; i++) waiting_.push(request->tenant, 0, {request, i, {}});
}

// Megabytes of which the beginning counts need not wait, nor be tokenised.
void Embedder::shorten(EmbedRequest & request) const {
    for (auto & input : request.inputs) {
        auto * text = std::get_if<std::string>(&input);
        if (text && !request.rank) text->resize(model_->beginning(*text, limits_.n_ctx_per_job + 1).size());
    }
}

// Throws StatusError context_length_exceeded or invalid_argument.
void Embedder::tokenize(EmbedText & text) {
    auto & request = *text.request;
    text.tokens = tokens_of(request, text.index);
    if (request.truncates && !request.rank) truncate(text);
    const size_t n_tokens = text.tokens.size();
    check_length(text.index, "", n_tokens);
    if (n_tokens == 0) throw StatusError("invalid_argument", "input " + std::to_string(text.index) + " has no tokens");
    // What the queue counted for this text was an estimate by its bytes.
    const size_t n_estimated =
        std::min<size_t>(request.n_queued_tokens, AdmissionControl::tokens_of(n_bytes_of(request, text.index)));
    queue_.recount(n_estimated, n_tokens);
    request.n_queued_tokens += n_tokens - n_estimated;
}

// The token that closes every text of the model stays.
void Embedder::truncate(EmbedText & text) const {
    auto & tokens = text.tokens;
    if (tokens.size() <= limits_.n_ctx_per_job) return;
    const bool is_text = std::holds_alternative<std::string>(text.request->inputs[text.index]);
    const bool is_closed = is_text && (llama_vocab_get_add_eos(model_->vocab()) || llama_vocab_get_add_sep(model_->vocab()));
    const auto last = tokens.back();
    tokens.resize(limits_.n_ctx_per_job);
    if (is_closed) tokens.back() = last;
    auto & truncated = text.request->truncated;
    truncated.insert(std::upper_bound(truncated.begin(), truncated.end(), text.index), text.index);
}

void Embedder::check_length(size_t index, const char * bound, size_t n_tokens) const {
    if (n_tokens <= limits_.n_ctx_per_job) return;
    throw StatusError({"context_length_exceeded",
                       "input " + std::to_string(index) + " has " + (bound + std::to_string(n_tokens)) +
                           " tokens and the model takes " + std::to_string(limits_.n_ctx_per_job) +
                           ", its maximum context length",
                       static_cast<uint32_t>(n_tokens), limits_.n_ctx_per_job, static_cast<int32_t>(index)});
}

// Known before a text is tokenised, which takes seconds for megabytes, while others wait for this thread.
size_t Embedder::least_tokens_of(const EmbedRequest & request, size_t index) const {
    const auto & input = request.inputs[index];
    if (const auto * tokens = std::get_if<std::vector<llama_token>>(&input)) return tokens->size();
    return model_->least_tokens(request.query) + model_->least_tokens(std::get<std::string>(input));
}

std::vector<llama_token> Embedder::tokens_of(const EmbedRequest & request, size_t index) const {
    const auto & input = request.inputs[index];
    if (const auto * tokens = std::get_if<std::vector<llama_token>>(&input)) {
        for (auto token : *tokens) {
            if (token < 0 || token >= model_->n_vocab())
                throw StatusError("invalid_argument", "token " + std::to_string(token) + " is not in the vocabulary");
        }
        return *tokens;
    }
    const auto & text = std::get<std::string>(input);
    return request.rank ? rank_tokens(request.query, text) : model_->tokenize(text, true, false);
}

// [BOS]query[EOS][SEP]document[EOS], each special token where the vocabulary adds it; or the model's own rerank template.
// BERT's vocabulary has no EOS: there [SEP] closes the document too, as llama-embedding does and llama-server forgets.
std::vector<llama_token> Embedder::rank_tokens(const std::string & query, const std::string & document) const {
    const auto * vocab = model_->vocab();
    if (const char * source = llama_model_chat_template(model_->raw(), "rerank")) {
        return model_->tokenize(fill_rerank_template(source, query, document, model_->control_texts()), false, true);
    }
    std::vector<llama_token> tokens;
    auto append = [&](const std::vector<llama_token> & part) { tokens.insert(tokens.end(), part.begin(), part.end()); };
    auto end = llama_vocab_eos(vocab) == LLAMA_TOKEN_NULL ? llama_vocab_sep(vocab) : llama_vocab_eos(vocab);
    if (llama_vocab_get_add_bos(vocab)) tokens.push_back(llama_vocab_bos(vocab));
    append(model_->tokenize(query, false, false));
    if (llama_vocab_get_add_eos(vocab)) tokens.push_back(end);
    if (llama_vocab_get_add_sep(vocab)) tokens.push_back(llama_vocab_sep(vocab));
    append(model_->tokenize(document, false, false));
    if (llama_vocab_get_add_eos(vocab) || llama_vocab_get_add_sep(vocab)) tokens.push_back(end);
    return tokens;
}

// Tokens that a batch may hold, if it holds more than one text.
size_t Embedder::n_pack() const {
    if (ms_per_token_ <= 0 || !compute_->is_contended()) return kTuning.pack_tokens;
    return std::min(kTuning.pack_tokens, static_cast<size_t>(kTuning.shared_pack_ms / ms_per_token_));
}

// False where the first text cannot be embedded: its request ends, at the cost that finding out had, or else a tenant whose texts
// are all refused would always come first.
bool Embedder::tokenize_front() {
    auto & text = waiting_.front();
    if (!text.tokens.empty()) return true;
    const auto status = catch_status([&] { tokenize(text); });
    if (status.code.empty()) return true;
    const auto cost =
        static_cast<double>(std::max<size_t>(1, AdmissionControl::tokens_of(n_bytes_of(*text.request, text.index))));
    const auto refused = with_memory([&] { return waiting_.pop(cost); });
    complete(refused.request, status);
    return false;
}

// Packs texts in their order while they fit. A round tokenises a bounded number of bytes, so that whoever has come meanwhile is
// asked between two; a text that did not fit keeps its tokens for the next.
void Embedder::pack() {
    batch_->clear();
    const size_t n_most = n_pack();
    size_t n_bytes = 0;
    // Texts that somebody waits for do not wait for others beside them.
    const bool is_background = waiting_.front().request->is_background;
    while (!waiting_.empty() && packed_.size() < limits_.n_parallel && n_bytes < kTuning.pack_bytes) {
        const auto & next = waiting_.front();
        if (next.request->is_background != is_background) break;
        if (next.tokens.empty()) n_bytes += n_bytes_of(*next.request, next.index);
        if (!tokenize_front()) continue;
        const auto & tokens = waiting_.front().tokens;
        if (!packed_.empty() && static_cast<size_t>(batch_->size()) + tokens.size() > n_most) break;
        const auto sequence = static_cast<llama_seq_id>(packed_.size());
        for (size_t i = 0; i < tokens.size(); i++) batch_->add(tokens[i], static_cast<llama_pos>(i), sequence, true);
        const auto cost = static_cast<double>(tokens.size());
        // One that is taken out and not kept would be nobody's.
        with_memory([&] { packed_.push_back(waiting_.pop(cost)); });
    }
}

// Evaluates a batch and hands the results out.
void Embedder::run_batch() {
    if (device_failed_) throw_device_fault();
    pack();
    if (packed_.empty()) return;
    const auto use = use_of(packed_.front().request->is_background, CoreUse::kAnswer);
    if (auto * memory = llama_get_memory(context_.get())) llama_memory_clear(memory, false);
    const bool encodes = llama_model_has_encoder(model_->raw()) && !llama_model_has_decoder(model_->raw());
    std::optional<CoreGrant> grant(std::in_place, *compute_, use);
    const auto begin = Clock::now();
    const int32_t result = encodes ? llama_encode(context_.get(), batch_->raw()) : llama_decode(context_.get(), batch_->raw());
    llama_synchronize(context_.get());
    grant.reset();
    ms_per_token_ = ms_between(begin, Clock::now()) / std::max(1, batch_->size());
    for (size_t i = 0; i < packed_.size(); i++) {
        const auto & text = packed_[i];
        if (!text.request->status.code.empty() || text.request->n_missing == 0) continue;
        const auto status = catch_status([&] {
            if (result != 0) throw StatusError("internal", "the batch could not be evaluated (" + std::to_string(result) + ")");
            collect(text, static_cast<llama_seq_id>(i));
        });
        if (!status.code.empty()) complete(text.request, status);
    }
}

void Embedder::collect(const EmbedText & text, llama_seq_id sequence) {
    auto & request = *text.request;
    const float * values = llama_get_embeddings_seq(context_.get(), sequence);
    if (!values) return complete(text.request, {"internal", "the model gave no embedding"});
    const int32_t n_out = pooling_ == LLAMA_POOLING_TYPE_RANK ? 1 : llama_model_n_embd_out(model_->raw());
    request.vectors[text.index] = request.rank ? std::vector<float>{values[0]} : normalised(values, n_out, norm_);
    request.n_tokens[text.index] = static_cast<uint32_t>(text.tokens.size());
    if (--request.n_missing > 0) return;
    const auto n_all = std::accumulate(request.n_tokens.begin(), request.n_tokens.end(), uint64_t{0});
    service_rate_.job_done(static_cast<double>(n_all) * ms_per_token_ / 1000);
    complete(text.request, {});
}

// Ends a request; its remaining texts are dropped.
void Embedder::complete(const std::shared_ptr<EmbedRequest> & request, const Status & status) {
    const MemoryWait wait;
    const auto held = request;
    const auto found = std::find(requests_.begin(), requests_.end(), held);
    if (found == requests_.end()) return;  // ended before
    requests_.erase(found);
    held->status = status;
    waiting_.remove_if(held->tenant, [&](const EmbedText & text) { return text.request == held; });
    queue_.leave(held->tenant, held->n_queued_tokens);
    if (auto done = std::move(held->done)) done();
}

}  // namespace svc
