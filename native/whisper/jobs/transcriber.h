// Runs the transcriptions of one model: few states, which are lent to one recording after the other for a window, in a fair order
// over tenants by seconds of sound.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../../scheduling/fair_queue.h"
#include "transcription.h"

namespace svc {

class Transcriber {
  public:
    struct Options {
        uint32_t n_states;
        uint32_t n_threads;  // of each
        uint32_t n_most_jobs;
    };
    struct Stats {
        uint32_t n_jobs;
        uint32_t n_waiting;  // for a state
        double longest_slice_ms;
    };

    Transcriber(std::shared_ptr<SpeechModel> model, std::shared_ptr<const VoiceWeights> weights, Options options);
    ~Transcriber();

    // Throws StatusError closed, queue_full or invalid_argument (a language that the model does not know).
    std::shared_ptr<Transcription> start(TranscriptionOptions options, std::function<void(TranscriptionEvent)> on_event);
    // Returns whether more may be written at once; if not, an event says when.
    bool write(const std::shared_ptr<Transcription> & job, const float * samples, size_t count);
    void end(const std::shared_ptr<Transcription> & job);
    // No further event comes but the last.
    void cancel(const std::shared_ptr<Transcription> & job);
    void close();
    Stats stats();
    bool is_multilingual() const { return is_multilingual_; }

  private:
    using Job = std::shared_ptr<Transcription>;

    void run(size_t index);
    bool take(Job & job);
    void queue(const Job & job);
    void queue_if_ready(const Job & job);
    bool advance(WindowDecoder & decoder, Transcription & job);
    void find_language(WindowDecoder & decoder, Transcription & job);
    void decode(WindowDecoder & decoder, Transcription & job, const SpeechWindow & window);
    void settle(const Job & job, bool has_more, const Status & status);
    bool is_over(const Transcription & job) const;
    void complete(const Job & job, const Status & status);

    std::shared_ptr<SpeechModel> model_;
    const bool is_multilingual_;
    std::shared_ptr<const VoiceWeights> weights_;
    const Options options_;

    std::mutex close_mutex_;
    std::mutex mutex_;
    std::condition_variable wake_;
    FairQueue<Job> waiting_;  // over seconds
    uint32_t n_waiting_ = 0;
    std::vector<Job> jobs_;
    std::atomic<bool> closing_{false};
    std::vector<std::unique_ptr<WindowDecoder>> decoders_;
    std::vector<std::thread> threads_;
};

}  // namespace svc
