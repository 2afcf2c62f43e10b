// Texts become speech through llama.cpp's audio generation: a text model makes a frame after the other, and its projector turns
// frames into sound. One thread speaks one text after the other, in a fair order over tenants.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../../common/clock.h"
#include "../../common/status.h"
#include "../../scheduling/fair_queue.h"
#include "../context/context.h"
#include "../context/engine_limits.h"
#include "../model/model.h"
#include "../options/options.h"
#include "../queue/admission_control.h"
#include "mtmd-helper.h"

namespace svc {

struct SpeechOptions {
    std::string tenant;
    std::string text;      // a sentence
    std::string language;  // a code, for models that are told it
    std::vector<float>
        voice;          // samples of one channel at the model's rate: whom it shall sound like; empty: the model's own voice
    uint32_t seed = 1;  // the same text, voice and seed give the same samples
    bool is_background = false;
    int64_t timeout_ms = 0;  // 0: none
};

struct SpeechEvent {
    std::vector<float> samples;  // those since the event before
    bool is_last = false;
    Status status;  // of the last event
};

struct Utterance {
    SpeechOptions options;
    Clock::time_point deadline = Clock::time_point::max();
    // Called on the synthesizer's thread, or by whoever cancels or closes; the last event once.
    std::function<void(SpeechEvent)> on_event;
    std::atomic<bool> is_cancelled{false};
    bool is_queued = false;  // under the synthesizer's lock
    uint64_t n_queued_tokens = 0;
};

llama_context_params plan_speech(const Model & model, const EngineOptions & options);

class Synthesizer {
  public:
    // Throws StatusError unsupported (a model without audio generation, or one that another synthesizer has) and out_of_memory.
    Synthesizer(std::shared_ptr<Model> model, const EngineOptions & options);
    ~Synthesizer();

    // Throws StatusError closed, queue_full and invalid_argument.
    std::shared_ptr<Utterance> start(SpeechOptions options, std::function<void(SpeechEvent)> on_event);
    // No further event comes but the last.
    void cancel(const std::shared_ptr<Utterance> & utterance);
    void close();
    const EngineLimits & limits() const { return limits_; }
    int32_t sample_rate() const { return sample_rate_; }
    uint32_t n_waiting() const { return queue_.n_jobs(); }

  private:
    using Job = std::shared_ptr<Utterance>;

    void run();
    bool take(Job & job);
    void speak(Utterance & of);
    void begin(const Utterance & of);
    bool advance();
    void hand_over(Utterance & of);
    void reseed(uint32_t seed);
    void find_codes();
    llama_token sample_code();
    template <typename Work> void step(const Utterance & of, Work && work);
    void require_wanted(const Utterance & of) const;
    void leave(const Job & job);
    static void complete(Utterance & of, const Status & status);

    // A projector computes one thing at a time.
    class Claim {
      public:
        explicit Claim(const Model * model);
        ~Claim();
        Claim(const Claim &) = delete;
        Claim & operator=(const Claim &) = delete;

      private:
        const Model * model_;
    };

    std::shared_ptr<Model> model_;
    std::unique_ptr<Claim> claim_;
    ContextPtr context_;
    mtmd_helper::gen_audio_ptr pipeline_;
    EngineLimits limits_;
    const int32_t sample_rate_;
    AdmissionControl queue_;
    std::unique_ptr<CoreArbiter::Member> compute_;

    // Of its thread.
    std::mt19937 random_;
    std::optional<uint32_t> seeded_;  // the library's generator
    const float * state_ = nullptr;
    llama_token first_code_ = LLAMA_TOKEN_NULL;  // none: the model makes no tokens of its own
    int32_t n_codes_ = 0;
    llama_token end_code_ = LLAMA_TOKEN_NULL;
    size_t n_frames_ = 0;
    size_t n_most_frames_ = 0;
    size_t n_unheard_frames_ = 0;
    size_t n_handed_over_ = 0;  // samples

    std::mutex close_mutex_;
    std::mutex mutex_;
    std::condition_variable wake_;
    FairQueue<Job> waiting_;  // over bytes of text
    std::atomic<bool> closing_{false};
    std::thread thread_;
};

}  // namespace svc
