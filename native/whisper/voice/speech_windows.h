// Cuts a recording into windows of at most 30 s, which a speech model takes at a time: at pauses, and without what is no speech.
// Holds about a window of samples, however long the recording is. One thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "voice_network.h"

namespace svc {

struct SpeechWindow {
    int64_t begin;  // the recording's sample that it begins with
    std::vector<float> samples;

    int64_t end() const { return begin + static_cast<int64_t>(samples.size()); }
};

class SpeechWindows {
  public:
    // `skips_silence`: false for all of the recording; windows are still cut where nobody speaks.
    SpeechWindows(std::shared_ptr<const VoiceWeights> weights, bool skips_silence)
        : network_(std::move(weights)), skips_silence_(skips_silence) {}

    void write(const std::vector<float> & samples);
    void end() { is_ended_ = true; }
    // None: more samples are needed, or nothing is left.
    std::optional<SpeechWindow> next();
    // Nothing is left of a recording that ended.
    bool is_empty() const { return is_ended_ && samples_.empty(); }

    int64_t n_samples() const { return begin_ + static_cast<int64_t>(samples_.size()); }
    // Of those in the windows so far.
    int64_t n_speech() const { return n_speech_; }

  private:
    // Frames in which somebody speaks.
    struct Stretch {
        size_t begin;
        size_t end;
    };

    void listen();
    std::vector<Stretch> find_speech() const;
    std::optional<SpeechWindow> next_speech();
    // The end of the window that begins with the first frame; none: that is not known yet.
    std::optional<size_t> find_end(const std::vector<Stretch> & speech) const;
    size_t find_cut() const;
    SpeechWindow take(size_t n_frames);
    void drop(size_t n_frames);

    VoiceNetwork network_;
    const bool skips_silence_;
    bool is_ended_ = false;
    int64_t begin_ = 0;  // the recording's sample that `samples_` begins with
    std::vector<float> samples_;
    std::vector<float> speech_;  // the probability of speech in each of their frames
    int64_t n_speech_ = 0;
};

}  // namespace svc
