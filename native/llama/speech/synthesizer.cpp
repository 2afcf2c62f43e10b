#include "synthesizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "../../common/memory_wait.h"
#include "../context/context_plan.h"
#include "../model/backend.h"
#include "../model/device_fault.h"

namespace svc {

namespace {

// Positions that a voice, a sentence and its frames take: 12.5 frames a second, of 30 s of voice and of a minute of speech.
constexpr uint32_t kMostCtx = 4096;
// Rows of a prompt in a step. Each has a row of logits, which vocabularies of Qwen's size make large.
constexpr uint32_t kPromptRows = 64;
// The library decodes a part of a sentence in one batch, of at most a token for each byte.
constexpr size_t kMostTextBytes = 2048;
constexpr double kMostVoiceSeconds = 30;
constexpr double kLeastVoiceSeconds = 0.1;
// Frames until the first samples, and then between two pieces: each piece is a pass of the decoder.
constexpr size_t kFirstFrames = 2;
constexpr size_t kFramesOfPiece = 8;
// Qwen3-TTS's decoder takes a window, and what is less is filled up: it goes on only from whole ones.
constexpr size_t kFramesOfWindow = 72;
// Codes are sampled as Qwen3-TTS's own configuration says.
constexpr int32_t kTopK = 50;
constexpr float kTemperature = 0.9f;
// Speech of a text that a model does not end by itself: slow reading, and a pause.
constexpr double kFramesOfByte = 4;
constexpr size_t kSpareFrames = 50;

struct BitmapDeleter {
    void operator()(mtmd_bitmap * bitmap) const { mtmd_bitmap_free(bitmap); }
};

StatusError failed(const char * what) { return StatusError("internal", std::string(what) + ": " + take_error_log()); }

mtmd_gen_audio_info info_of(const Model & model) {
    if (model.weightless() || !model.projector())
        throw StatusError("unsupported", "a model that speaks needs its weights and its projector");
    const auto info = mtmd_gen_audio_get_info(model.projector());
    if (info.type == MTMD_GEN_AUDIO_TYPE_NONE) throw StatusError("unsupported", "this model's projector does not speak");
    return info;
}

std::mutex claims_mutex;
std::set<const Model *> claims;

}  // namespace

Synthesizer::Claim::Claim(const Model * model) : model_(model) {
    std::lock_guard lock(claims_mutex);
    if (!claims.insert(model).second) throw StatusError("unsupported", "a synthesizer speaks with this model already");
}

Synthesizer::Claim::~Claim() {
    std::lock_guard lock(claims_mutex);
    claims.erase(model_);
}

llama_context_params plan_speech(const Model & model, const EngineOptions & options) {
    auto params = llama_context_default_params();
    apply_options(params, options);
    params.n_ctx = std::min(kMostCtx, n_ctx_usable(model, options));
    params.n_batch = params.n_ctx;
    params.n_ubatch = std::min(kPromptRows, params.n_ctx);
    params.n_seq_max = 1;
    params.embeddings = true;
    params.pooling_type = LLAMA_POOLING_TYPE_NONE;
    return params;
}

Synthesizer::Synthesizer(std::shared_ptr<Model> model, const EngineOptions & options)
    : model_(std::move(model)), sample_rate_(info_of(*model_).sample_rate) {
    const DeviceFaultScope scope;
    claim_ = std::make_unique<Claim>(model_.get());
    const auto params = plan_speech(*model_, options);
    context_ = create_context(*model_, params);
    pipeline_.reset(mtmd_helper_gen_audio_init(context_.get(), model_->projector()));
    if (info_of(*model_).type == MTMD_GEN_AUDIO_TYPE_QWEN3TTS) find_codes();
    limits_.n_ctx = llama_n_ctx(context_.get());
    limits_.n_ctx_per_job = limits_.n_ctx;
    limits_.n_parallel = 1;
    limits_.n_threads = params.n_threads;
    limits_.memory = memory_of(context_.get(), kPromptRows);
    limits_.weights = weights_of(context_.get());
    queue_.set_limits(queue_limits(options));
    compute_ = join_core_arbitration(limits_);
    thread_ = std::thread([this] { run(); });
}

Synthesizer::~Synthesizer() { close(); }

// The tokens of the first codebook stand in a row.
void Synthesizer::find_codes() {
    const auto * vocab = model_->vocab();
    const auto has = [&](llama_token token, const std::string & name) {
        return token < model_->n_vocab() && name == llama_vocab_get_text(vocab, token);
    };
    for (llama_token token = 0; token < model_->n_vocab(); token++) {
        if (has(token, "<|codec_0|>")) first_code_ = token;
        if (has(token, "<|codec_eos_token|>")) end_code_ = token;
    }
    if (first_code_ == LLAMA_TOKEN_NULL || end_code_ == LLAMA_TOKEN_NULL)
        throw StatusError("unsupported", "the model's vocabulary has no codes of sounds");
    while (has(first_code_ + n_codes_, "<|codec_" + std::to_string(n_codes_) + "|>")) n_codes_++;
}

std::shared_ptr<Utterance> Synthesizer::start(SpeechOptions options, std::function<void(SpeechEvent)> on_event) {
    if (options.text.empty() || options.text.size() > kMostTextBytes)
        throw StatusError("invalid_argument", "'text' must have 1 to " + std::to_string(kMostTextBytes) + " bytes");
    const auto voice_seconds = static_cast<double>(options.voice.size()) / sample_rate_;
    if (!options.voice.empty() && (voice_seconds < kLeastVoiceSeconds || voice_seconds > kMostVoiceSeconds))
        throw StatusError("invalid_argument", "'voice' must have a tenth of a second to 30 seconds");
    auto job = std::make_shared<Utterance>();
    job->options = std::move(options);
    job->on_event = std::move(on_event);
    const auto & asked = job->options;
    if (asked.timeout_ms > 0) job->deadline = Clock::now() + std::chrono::milliseconds(asked.timeout_ms);
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the voice is closed");
    job->n_queued_tokens = queue_.enter(asked.tenant, asked.text.size(), asked.timeout_ms);
    try {
        waiting_.push(asked.tenant, asked.is_background ? -1 : 0, job);
    } catch (...) {
        queue_.leave(asked.tenant, job->n_queued_tokens);
        throw;
    }
    job->is_queued = true;
    wake_.notify_one();
    return job;
}

void Synthesizer::cancel(const Job & job) {
    job->is_cancelled = true;
    {
        const MemoryWait wait;
        std::lock_guard lock(mutex_);
        if (!job->is_queued) return;
        waiting_.remove_if(job->options.tenant, [&](const Job & other) { return other == job; });
        leave(job);
    }
    complete(*job, {"closed", "the caller has gone"});
}

// Under the lock.
void Synthesizer::leave(const Job & job) {
    job->is_queued = false;
    queue_.leave(job->options.tenant, job->n_queued_tokens);
}

void Synthesizer::close() {
    std::lock_guard closing(close_mutex_);
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
        wake_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    if (model_ && model_->is_on_lost_device()) {
        keep_forever(pipeline_);
        keep_forever(context_);
        keep_forever(model_);
    }
    pipeline_.reset();
    context_.reset();
    claim_.reset();
    model_.reset();
}

void Synthesizer::run() {
    const DeviceFaultScope scope;
    Job job;
    while (take(job)) {
        auto status = catch_status([&] { speak(*job); });
        if (closing_) status = {"closed", "the voice was closed"};
        complete(*job, status);
        job.reset();
    }
    const MemoryWait wait;
    for (;;) {
        {
            std::lock_guard lock(mutex_);
            if (waiting_.empty()) return;
            job = waiting_.pop(1);
            leave(job);
        }
        complete(*job, {"closed", "the voice was closed"});
    }
}

bool Synthesizer::take(Job & job) {
    const MemoryWait wait;
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return false;
    job = waiting_.pop(static_cast<double>(waiting_.front()->options.text.size()));
    leave(job);
    return true;
}

void Synthesizer::complete(Utterance & of, const Status & status) {
    const MemoryWait wait;
    SpeechEvent event;
    event.is_last = true;
    event.status = status;
    if (auto on_event = std::exchange(of.on_event, nullptr)) on_event(std::move(event));
}

void Synthesizer::require_wanted(const Utterance & of) const {
    if (of.is_cancelled || closing_) throw StatusError("closed", "the caller has gone");
    if (Clock::now() >= of.deadline) throw StatusError("deadline_exceeded", "the request's time limit has passed");
}

// The cores are given back between steps, which last for milliseconds: others take their turns there, and an end is noticed.
template <typename Work> void Synthesizer::step(const Utterance & of, Work && work) {
    require_wanted(of);
    const CoreGrant grant(*compute_, use_of(of.options.is_background, CoreUse::kAnswer));
    work();
    llama_synchronize(context_.get());
}

void Synthesizer::speak(Utterance & of) {
    step(of, [&] { begin(of); });
    int32_t left = 1;
    while (left > 0) step(of, [&] { left = mtmd_helper_gen_audio_step_prompt(pipeline_.get(), kPromptRows); });
    if (left < 0) throw failed("the sentence cannot be read");
    state_ = llama_get_embeddings_ith(context_.get(), -1);
    if (!state_) throw failed("the sentence gave no state");
    bool has_more = true;
    while (has_more) {
        step(of, [&] { has_more = advance(); });
        const bool is_in_windows = first_code_ != LLAMA_TOKEN_NULL;
        const size_t n_wanted = is_in_windows ? kFramesOfWindow : n_handed_over_ == 0 ? kFirstFrames : kFramesOfPiece;
        if (has_more && n_unheard_frames_ == n_wanted) step(of, [&] { hand_over(of); });
    }
    step(of, [&] { hand_over(of); });
}

void Synthesizer::begin(const Utterance & of) {
    const auto & asked = of.options;
    take_error_log();
    llama_memory_clear(llama_get_memory(context_.get()), true);
    reseed(asked.seed);
    random_.seed(asked.seed);
    n_frames_ = n_unheard_frames_ = n_handed_over_ = 0;
    n_most_frames_ = static_cast<size_t>(kFramesOfByte * static_cast<double>(asked.text.size())) + kSpareFrames;
    // Text is text: none of it is a control token.
    std::string text = asked.text;
    model_->control_texts().escape_control_texts(text);
    std::unique_ptr<mtmd_bitmap, BitmapDeleter> voice(
        asked.voice.empty() ? nullptr : mtmd_bitmap_init_from_audio(asked.voice.size(), asked.voice.data()));
    mtmd_helper_gen_audio_inp input{};
    input.prompt = text.c_str();
    input.prompt_len = text.size();
    input.speaker_ref = voice.get();
    input.lang = asked.language.c_str();
    input.seed = asked.seed;
    input.out_type = MTMD_HELPER_GEN_AUDIO_OUTTYPE_PCM;
    if (mtmd_helper_gen_audio_set_input(pipeline_.get(), &input) != 0) throw failed("the voice cannot speak this");
}

// The library begins its random numbers again only where the seed is another one than before, which may have been that of a
// synthesizer that is gone. A frame that nobody hears, under another seed, has it do so.
void Synthesizer::reseed(uint32_t seed) {
    const bool is_other = seeded_ && *seeded_ != seed;
    seeded_ = seed;
    if (is_other) return;
    std::vector<float> state(static_cast<size_t>(llama_model_n_embd(model_->raw())), 0.0f);
    auto input = mtmd_gen_inp_default(model_->projector());
    input.type = MTMD_GEN_PROCESS_TYPE_GEN_CODE;
    input.embd = state.data();
    input.seed = seed ^ 1;
    mtmd_gen_out output{};
    if (mtmd_gen_audio_process(model_->projector(), &input, &output) != 0) throw failed("the voice cannot begin again");
}

// Makes a frame. Returns whether there is another to come.
bool Synthesizer::advance() {
    bool is_over = false;
    const float * next = nullptr;
    const auto token = first_code_ == LLAMA_TOKEN_NULL ? LLAMA_TOKEN_NULL : sample_code();
    if (mtmd_helper_gen_audio_step_gen(pipeline_.get(), token, state_, &next, &is_over) != 0)
        throw failed("the sentence cannot be spoken to its end");
    state_ = next;
    if (is_over || !next) return false;
    n_frames_++;
    n_unheard_frames_++;
    return n_frames_ < n_most_frames_;
}

// Among the codes and the end of the speech alone: whatever else a file's weights prefer is no sound.
llama_token Synthesizer::sample_code() {
    const float * logits = llama_get_logits_ith(context_.get(), -1);
    if (!logits) throw failed("the frame gave no logits");
    std::vector<std::pair<float, llama_token>> found;
    found.reserve(static_cast<size_t>(n_codes_) + 1);
    const auto add = [&](llama_token token) {
        const float logit = logits[token];
        if (std::isfinite(logit)) found.emplace_back(logit, token);
    };
    for (int32_t i = 0; i < n_codes_; i++) add(first_code_ + i);
    add(end_code_);
    if (found.empty()) throw StatusError("internal", "no code of a sound is likely");
    const auto n_kept = std::min<size_t>(kTopK, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<int64_t>(n_kept), found.end(), std::greater<>());
    double sum = 0;
    std::vector<double> weights;
    for (size_t i = 0; i < n_kept; i++)
        weights.push_back(sum += std::exp(static_cast<double>((found[i].first - found[0].first) / kTemperature)));
    const double drawn = sum * static_cast<double>(random_()) / 4294967296.0;
    const auto at = std::upper_bound(weights.begin(), weights.end(), drawn) - weights.begin();
    return found[std::min(static_cast<size_t>(at), n_kept - 1)].second;
}

void Synthesizer::hand_over(Utterance & of) {
    int32_t rate = 0;
    const char * bytes = nullptr;
    size_t n_bytes = 0;
    int64_t n_samples = 0;
    if (mtmd_helper_gen_audio_get_output(pipeline_.get(), &rate, &bytes, &n_bytes, &n_samples) != 0)
        throw failed("the frames cannot become sound");
    n_unheard_frames_ = 0;
    const auto n_all = static_cast<size_t>(n_samples);
    if (n_all <= n_handed_over_) return;
    SpeechEvent event;
    event.samples.resize(n_all - n_handed_over_);
    std::memcpy(event.samples.data(), bytes + n_handed_over_ * sizeof(float), event.samples.size() * sizeof(float));
    n_handed_over_ = n_all;
    of.on_event(std::move(event));
}

}  // namespace svc
