#include "transcriber.h"

#include <algorithm>

#include "../../common/memory_wait.h"

namespace svc {

namespace {

// Samples that wait for the model: a writer pauses at the first and goes on at the second.
constexpr size_t kMostInbox = 60 * kSampleRate;
constexpr size_t kLeastInbox = 20 * kSampleRate;
// So much is worth a look for speech.
constexpr size_t kWorthwhile = 5 * kSampleRate;
// What a turn counts for in the fair order, which takes a window at most.
constexpr double kTurnSeconds = 30;
// A language that the first window shows this clearly needs no second.
constexpr float kCertain = 0.9f;
constexpr size_t kMostLanguageWindows = 3;
// The same line so often in a row is a model that goes round in circles.
constexpr uint32_t kMostRepeated = 3;

CoreUse use_of(const Transcription & job) { return svc::use_of(job.options.is_background, CoreUse::kRecording); }

double seconds_of(int64_t n_samples) { return static_cast<double>(n_samples) / kSampleRate; }

// Times never pass the recording's end nor go back.
void place(SpeechSegment & segment, const SpeechWindow & window, double & last_end) {
    const double offset = seconds_of(window.begin);
    const double end = seconds_of(window.end());
    const auto put = [&](double & time) { time = last_end = std::clamp(time + offset, last_end, std::max(last_end, end)); };
    put(segment.begin);
    const double begin = last_end;
    for (auto & word : segment.words) {
        put(word.begin);
        put(word.end);
    }
    const double words_end = last_end;
    last_end = begin;
    put(segment.end);
    last_end = segment.end = std::max(segment.end, words_end);
}

}  // namespace

Transcriber::Transcriber(std::shared_ptr<SpeechModel> model, std::shared_ptr<const VoiceWeights> weights, Options options)
    : model_(std::move(model)), is_multilingual_(model_->is_multilingual()), weights_(std::move(weights)), options_(options) {
    for (uint32_t i = 0; i < options_.n_states; i++)
        decoders_.push_back(std::make_unique<WindowDecoder>(model_, options_.n_threads));
    try {
        for (size_t i = 0; i < decoders_.size(); i++) threads_.emplace_back([this, i] { run(i); });
    } catch (...) {
        close();
        throw;
    }
}

Transcriber::~Transcriber() { close(); }

Transcriber::Job Transcriber::start(TranscriptionOptions options, std::function<void(TranscriptionEvent)> on_event) {
    if (!options.decode.language.empty() && whisper_lang_id(options.decode.language.c_str()) < 0)
        throw StatusError("invalid_argument", "'language' must be the code of a language that the model knows");
    if (!is_multilingual_) options.decode.language = "en";
    auto job = std::make_shared<Transcription>(std::move(options), weights_);
    if (job->options.timeout_ms > 0) job->deadline = Clock::now() + std::chrono::milliseconds(job->options.timeout_ms);
    job->on_event = std::move(on_event);
    std::lock_guard lock(mutex_);
    if (closing_) throw StatusError("closed", "the speech model is closed");
    if (jobs_.size() >= options_.n_most_jobs) {
        Status full{"queue_full", "too many recordings wait for the speech model"};
        full.number_a = 5000;
        throw StatusError(full);
    }
    jobs_.push_back(job);
    return job;
}

bool Transcriber::write(const Job & job, const float * samples, size_t count) {
    std::lock_guard lock(mutex_);
    if (job->is_over || job->is_ended) return true;
    job->inbox.insert(job->inbox.end(), samples, samples + count);
    queue_if_ready(job);
    job->is_full = job->inbox.size() >= kMostInbox;
    return !job->is_full;
}

void Transcriber::end(const Job & job) {
    std::lock_guard lock(mutex_);
    job->is_ended = true;
    queue_if_ready(job);
}

// One that waits for samples would never be looked at again.
void Transcriber::cancel(const Job & job) {
    std::lock_guard lock(mutex_);
    job->is_cancelled = true;
    if (!job->is_over && !job->is_queued) queue(job);
}

void Transcriber::close() {
    std::lock_guard closing(close_mutex_);
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
        wake_.notify_all();
    }
    for (auto & thread : threads_) {
        if (thread.joinable()) thread.join();
    }
    const MemoryWait wait;
    const auto left = jobs_;
    for (const auto & job : left) complete(job, {"closed", "the speech model was closed"});
    std::lock_guard lock(mutex_);
    decoders_.clear();
    model_.reset();
}

Transcriber::Stats Transcriber::stats() {
    std::lock_guard lock(mutex_);
    double longest = 0;
    for (const auto & decoder : decoders_) longest = std::max(longest, decoder->longest_slice_ms());
    return {static_cast<uint32_t>(jobs_.size()), n_waiting_, longest};
}

void Transcriber::run(size_t index) {
    Job job;
    while (take(job)) {
        bool has_more = false;
        const auto status = catch_status([&] { has_more = advance(*decoders_[index], *job); });
        settle(job, has_more, status);
        job.reset();
    }
}

bool Transcriber::take(Job & job) {
    const MemoryWait wait;
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return false;
    job = waiting_.pop(kTurnSeconds);
    n_waiting_--;
    return true;
}

// Both under the lock.
void Transcriber::queue(const Job & job) {
    const MemoryWait wait;
    waiting_.push(job->options.tenant, job->options.is_background ? -1 : 0, job);
    job->is_queued = true;
    n_waiting_++;
    wake_.notify_one();
}

void Transcriber::queue_if_ready(const Job & job) {
    if (job->is_queued || job->is_over) return;
    if (job->is_ended || job->inbox.size() >= kWorthwhile) queue(job);
}

// Decodes a window where there is one. Returns whether there may be another.
bool Transcriber::advance(WindowDecoder & decoder, Transcription & job) {
    std::vector<float> samples;
    bool is_ended = false;
    bool was_full = false;
    {
        std::lock_guard lock(mutex_);
        samples.swap(job.inbox);
        is_ended = job.is_ended;
        was_full = std::exchange(job.is_full, false);
    }
    job.windows.write(samples);
    if (is_ended) job.windows.end();
    if (was_full) {
        TranscriptionEvent event;
        event.wants_samples = true;
        job.on_event(std::move(event));
    }
    if (is_over(job)) return false;
    if (!job.language.empty() && !job.held.empty()) {
        const auto window = std::move(job.held.front());
        job.held.pop_front();
        decode(decoder, job, window);
        return true;
    }
    auto window = job.windows.next();
    if (!window && job.windows.is_empty() && !job.held.empty()) {
        // The recording ends before the language is certain.
        const auto & sums = job.language_sums;
        job.language = whisper_lang_str(static_cast<int>(std::max_element(sums.begin(), sums.end()) - sums.begin()));
        return true;
    }
    if (!window) return false;
    if (job.language.empty()) {
        job.held.push_back(std::move(*window));
        find_language(decoder, job);
        return true;
    }
    decode(decoder, job, *window);
    return true;
}

// By the windows that are held, of which the last is new.
void Transcriber::find_language(WindowDecoder & decoder, Transcription & job) {
    const auto found = decoder.detect_language(job.held.back().samples, use_of(job), [&] { return is_over(job); });
    auto & sums = job.language_sums;
    sums.resize(found.size());
    for (size_t i = 0; i < found.size(); i++) sums[i] += found[i];
    const auto best = std::max_element(sums.begin(), sums.end());
    if (job.held.size() < kMostLanguageWindows && *best < kCertain * static_cast<float>(job.held.size())) return;
    job.language = whisper_lang_str(static_cast<int>(best - sums.begin()));
}

void Transcriber::decode(WindowDecoder & decoder, Transcription & job, const SpeechWindow & window) {
    auto options = job.options.decode;
    options.language = job.language;
    auto segments = decoder.decode(window.samples, options, use_of(job), [&] { return is_over(job); });
    TranscriptionEvent event;
    for (auto & segment : segments) {
        job.n_repeated = segment.text == job.last_text ? job.n_repeated + 1 : 0;
        job.last_text = segment.text;
        if (job.n_repeated >= kMostRepeated) continue;
        place(segment, window, job.last_end);
        event.segments.push_back(std::move(segment));
    }
    event.done_seconds = seconds_of(window.end());
    event.language = job.language;
    event.speech_seconds = seconds_of(job.windows.n_speech());
    event.duration = seconds_of(job.windows.n_samples());
    job.on_event(std::move(event));
}

bool Transcriber::is_over(const Transcription & job) const {
    return closing_ || job.is_cancelled || Clock::now() >= job.deadline;
}

void Transcriber::settle(const Job & job, bool has_more, const Status & status) {
    if (closing_) return;
    if (job->is_cancelled) return complete(job, {"closed", "the caller has gone"});
    if (Clock::now() >= job->deadline) return complete(job, {"deadline_exceeded", "the request's time limit has passed"});
    if (!status.code.empty()) return complete(job, status);
    {
        std::lock_guard lock(mutex_);
        job->is_queued = false;
        if (has_more) queue(job);
        else if (!job->windows.is_empty() || !job->inbox.empty()) queue_if_ready(job);
        if (job->is_queued || !job->is_ended) return;
    }
    complete(job, {});
}

void Transcriber::complete(const Job & job, const Status & status) {
    const MemoryWait wait;
    {
        std::lock_guard lock(mutex_);
        if (std::exchange(job->is_over, true)) return;
        jobs_.erase(std::find(jobs_.begin(), jobs_.end(), job));
        job->inbox = {};
    }
    TranscriptionEvent event;
    event.is_last = true;
    event.status = status;
    event.language = job->language;
    event.duration = seconds_of(job->windows.n_samples());
    event.done_seconds = event.duration;
    event.speech_seconds = seconds_of(job->windows.n_speech());
    std::exchange(job->on_event, nullptr)(std::move(event));
}

}  // namespace svc
