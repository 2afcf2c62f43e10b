#include "embedder.h"

#include <algorithm>
#include <cmath>

#include "backend.h"
#include "context_plan.h"

namespace svc {

namespace {

constexpr uint32_t kAutoCtx = 2048;
constexpr uint32_t kAutoSequences = 64;
// Weights are read once for a batch, which pays up to about here; without flash attention, attention costs the batch's square.
constexpr size_t kPackTokens = 512;
// How long a batch may keep other contexts from computing.
constexpr double kSharedMs = 20;

// What the model's file says; a model that says nothing is averaged, as sentence embeddings of causal models commonly are.
enum llama_pooling_type pooling_of(const Model & model) {
    auto text = model.meta((model.meta("general.architecture") + ".pooling_type").c_str());
    const int value = text.empty() ? LLAMA_POOLING_TYPE_NONE : std::atoi(text.c_str());
    return value <= LLAMA_POOLING_TYPE_NONE || value > LLAMA_POOLING_TYPE_RANK ? LLAMA_POOLING_TYPE_MEAN
                                                                               : static_cast<enum llama_pooling_type>(value);
}

std::vector<float> normalised(const float * values, int32_t count) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) sum += static_cast<double>(values[i]) * values[i];
    const float scale = sum > 0 ? static_cast<float>(1.0 / std::sqrt(sum)) : 0.0f;
    std::vector<float> vector(values, values + count);
    for (auto & value : vector) value *= scale;
    return vector;
}

size_t n_bytes_of(const EmbedRequest & request) {
    size_t n_bytes = request.query.size() * request.inputs.size();
    for (const auto & input : request.inputs) {
        const auto * tokens = std::get_if<std::vector<llama_token>>(&input);
        n_bytes += tokens ? tokens->size() * sizeof(llama_token) : std::get<std::string>(input).size();
    }
    return n_bytes;
}

// Puts the texts in the places of {query} and {document}; what they say themselves is neither a place nor a control token.
std::string fill_rerank_template(std::string_view source, std::string query, std::string document, const ControlTexts & control) {
    control.defuse(query);
    control.defuse(document);
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
    const auto n_train = static_cast<uint32_t>(std::max(1, llama_model_n_ctx_train(model.raw())));
    params.n_ctx = options.n_ctx ? std::min(options.n_ctx, n_train) : std::min(n_train, kAutoCtx);
    // A text is pooled in one physical batch.
    params.n_batch = std::max<uint32_t>(params.n_ctx, kPackTokens);
    params.n_ubatch = params.n_batch;
    params.n_ctx = params.n_batch;
    params.n_seq_max = std::max(options.n_parallel, kAutoSequences);
    params.kv_unified = true;
    params.n_threads = options.n_threads ? options.n_threads : automatic_threads();
    params.n_threads_batch = options.n_threads_batch ? options.n_threads_batch : params.n_threads;
    // On a CPU it skips what other texts' masks hide: mixed texts need a third less time. In return a vector's last digits depend
    // on what is computed beside it; `off` makes them independent.
    params.flash_attn_type = options.flash_attention;
    params.embeddings = true;
    params.pooling_type = pooling_of(model);
    params.no_perf = true;
    return params;
}

Embedder::Embedder(std::shared_ptr<Model> model, EngineOptions options)
    : model_(std::move(model)), pooling_(pooling_of(*model_)) {
    if (model_->weightless()) throw StatusError("unsupported", "this model was loaded without its weights and cannot embed");
    auto params = plan_embedding(*model_, options);
    take_error_log();
    context_.reset(llama_init_from_model(model_->raw(), params));
    if (!context_) throw StatusError("out_of_memory", "the context cannot be created: " + take_error_log());
    limits_.n_ctx = params.n_ctx;
    limits_.n_ctx_per_job =
        std::min<uint32_t>(params.n_batch, static_cast<uint32_t>(std::max(1, llama_model_n_ctx_train(model_->raw()))));
    limits_.n_parallel = params.n_seq_max;
    limits_.n_threads = params.n_threads;
    limits_.memory = memory_of(context_.get(), 0);
    limits_.weights = weights_of(context_.get());
    queue_.set_limits(queue_limits(options));
    batch_ = std::make_unique<Batch>(static_cast<int32_t>(params.n_batch));
    compute_ = join_compute_turns(limits_);
    thread_ = std::thread([this] { run(); });
}

Embedder::~Embedder() { close(); }

void Embedder::submit(std::shared_ptr<EmbedRequest> request, int64_t timeout_ms) {
    if (request->rank && pooling_ != LLAMA_POOLING_TYPE_RANK)
        throw StatusError("unsupported", "this model embeds; it cannot rerank");
    if (timeout_ms > 0) request->deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the embedder is closed");
    request->n_queued_tokens = queue_.enter(request->tenant, n_bytes_of(*request), timeout_ms);
    inbox_.push_back(std::move(request));
    wake_.notify_one();
}

void Embedder::cancel(EmbedRequest & request) {
    std::lock_guard lock(mutex_);
    request.cancelled = true;
    nudged_ = true;
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
    batch_.reset();
    context_.reset();
    model_.reset();
}

void Embedder::run() {
    std::deque<std::shared_ptr<EmbedRequest>> taken;
    while (take(taken)) {
        for (auto & request : taken) {
            requests_.push_back(request);
            auto status = catch_status([&] { prepare(request); });
            if (!status.code.empty()) settle(request, status);
        }
        taken.clear();
        drop_over();
        if (turns_.empty()) continue;
        auto status = catch_status([this] { run_batch(); });
        for (const auto & text : packed_) {
            if (!status.code.empty()) settle(text.request, status);
        }
        packed_.clear();
        drain_rate_.step(Clock::now(), !turns_.empty());
        queue_.set_rate(drain_rate_.per_second(1));
    }
    for (auto & request : taken) requests_.push_back(request);
    while (!requests_.empty()) settle(requests_.front(), {"closed", "the embedder was closed"});
}

// Waits for work. False when the embedder closes.
bool Embedder::take(std::deque<std::shared_ptr<EmbedRequest>> & taken) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return closing_ || nudged_ || !inbox_.empty() || !turns_.empty(); });
    nudged_ = false;
    taken.swap(inbox_);
    return !closing_;
}

// Ends requests that nobody waits for and those whose time has passed.
void Embedder::drop_over() {
    const auto now = Clock::now();
    const auto all = requests_;
    for (const auto & request : all) {
        if (request->cancelled) settle(request, {"closed", "the caller has gone"});
        else if (now >= request->deadline) settle(request, {"deadline_exceeded", "the request's time limit has passed"});
    }
}

void Embedder::prepare(const std::shared_ptr<EmbedRequest> & request) {
    if (request->cancelled) return;
    const size_t count = request->inputs.size();
    std::vector<EmbedText> texts;
    size_t n_all = 0;
    for (size_t i = 0; i < count; i++) {
        check_length(i, "at least ", least_tokens_of(*request, i));
        texts.push_back({request, i, tokens_of(*request, i)});
        const size_t n_tokens = texts.back().tokens.size();
        check_length(i, "", n_tokens);
        if (n_tokens == 0) throw StatusError("invalid_argument", "input " + std::to_string(i) + " has no tokens");
        n_all += n_tokens;
    }
    request->vectors.resize(count);
    request->n_tokens.resize(count);
    request->n_missing = count;
    queue_.recount(request->n_queued_tokens, n_all);
    request->n_queued_tokens = n_all;
    if (count == 0) return settle(request, {});
    for (auto & text : texts) turns_.push(std::move(text));
}

void Embedder::check_length(size_t index, const char * bound, size_t n_tokens) const {
    if (n_tokens <= limits_.n_ctx_per_job) return;
    throw StatusError({"context_length_exceeded",
                       "input " + std::to_string(index) + " has " + (bound + std::to_string(n_tokens)) +
                           " tokens and the model takes " + std::to_string(limits_.n_ctx_per_job) +
                           ", its maximum context length",
                       static_cast<uint32_t>(n_tokens), limits_.n_ctx_per_job});
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
    if (ms_per_token_ <= 0 || !compute_->has_company()) return kPackTokens;
    return std::min(kPackTokens, static_cast<size_t>(kSharedMs / ms_per_token_));
}

// Packs texts in order of their turns while they fit, evaluates them, and hands the results out.
void Embedder::run_batch() {
    batch_->clear();
    const size_t n_most = n_pack();
    while (!turns_.empty() && packed_.size() < limits_.n_parallel) {
        const auto & tokens = turns_.front().tokens;
        if (!packed_.empty() && static_cast<size_t>(batch_->size()) + tokens.size() > n_most) break;
        const auto sequence = static_cast<llama_seq_id>(packed_.size());
        for (size_t i = 0; i < tokens.size(); i++) batch_->add(tokens[i], static_cast<llama_pos>(i), sequence, true);
        packed_.push_back(turns_.pop());
    }
    if (auto * memory = llama_get_memory(context_.get())) llama_memory_clear(memory, false);
    const bool encodes = llama_model_has_encoder(model_->raw()) && !llama_model_has_decoder(model_->raw());
    std::optional<ComputeTurn> turn(*compute_);
    const auto begin = Clock::now();
    const int32_t result = encodes ? llama_encode(context_.get(), batch_->raw()) : llama_decode(context_.get(), batch_->raw());
    llama_synchronize(context_.get());
    turn.reset();
    ms_per_token_ = ms_between(begin, Clock::now()) / std::max(1, batch_->size());
    for (size_t i = 0; i < packed_.size(); i++) {
        const auto & text = packed_[i];
        if (!text.request->status.code.empty() || text.request->n_missing == 0) continue;
        if (result != 0) settle(text.request, {"internal", "the batch could not be evaluated (" + std::to_string(result) + ")"});
        else collect(text, static_cast<llama_seq_id>(i));
    }
}

void Embedder::collect(const EmbedText & text, llama_seq_id sequence) {
    auto & request = *text.request;
    const float * values = llama_get_embeddings_seq(context_.get(), sequence);
    if (!values) return settle(text.request, {"internal", "the model gave no embedding"});
    const int32_t n_out = pooling_ == LLAMA_POOLING_TYPE_RANK ? 1 : llama_model_n_embd_out(model_->raw());
    request.vectors[text.index] = request.rank ? std::vector<float>{values[0]} : normalised(values, n_out);
    request.n_tokens[text.index] = static_cast<uint32_t>(text.tokens.size());
    if (--request.n_missing > 0) return;
    drain_rate_.job_done(static_cast<double>(request.n_queued_tokens) * ms_per_token_ / 1000);
    settle(text.request, {});
}

// Ends a request; its remaining texts are dropped.
void Embedder::settle(const std::shared_ptr<EmbedRequest> & request, const Status & status) {
    const auto held = request;
    const auto found = std::find(requests_.begin(), requests_.end(), held);
    if (found == requests_.end()) return;  // ended before
    requests_.erase(found);
    held->status = status;
    turns_.drop(*held);
    queue_.leave(held->tenant, held->n_queued_tokens);
    if (auto done = std::move(held->done)) done();
}

}  // namespace svc
