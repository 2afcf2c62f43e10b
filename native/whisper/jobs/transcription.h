// A recording that becomes text: what is asked for, the samples that came and are not heard yet, and how far it is.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "../../common/clock.h"
#include "../../common/status.h"
#include "../decoding/window_decoder.h"
#include "../voice/speech_windows.h"

namespace svc {

struct TranscriptionOptions {
    std::string tenant;
    DecodeOptions decode;  // without a language, that is found out
    bool skips_silence = true;
    bool is_background = false;  // nobody waits for it: others' work goes first
    int64_t timeout_ms = 0;      // 0: none
};

// What became of a window, or of all.
struct TranscriptionEvent {
    std::vector<SpeechSegment> segments;  // times are the recording's
    double done_seconds = 0;              // of the recording that became text
    double speech_seconds = 0;
    double duration = 0;  // that was written so far
    std::string language;
    bool wants_samples = false;
    bool is_last = false;
    Status status;  // of the last event
};

struct Transcription {
    Transcription(TranscriptionOptions asked, std::shared_ptr<const VoiceWeights> weights)
        : options(std::move(asked)), language(options.decode.language), windows(std::move(weights), options.skips_silence) {}

    TranscriptionOptions options;
    // Called on threads of the transcriber, one event after the other.
    std::function<void(TranscriptionEvent)> on_event;
    Clock::time_point deadline = Clock::time_point::max();
    std::atomic<bool> is_cancelled{false};

    // Under the transcriber's lock.
    std::vector<float> inbox;
    bool is_ended = false;
    bool is_queued = false;  // or being worked on
    bool is_over = false;
    bool is_full = false;  // the writer was told to wait

    // Of whoever works on it.
    std::string language;
    std::vector<float> language_sums;
    std::deque<SpeechWindow> held;  // until the language is known
    SpeechWindows windows;
    double last_end = 0;
    std::string last_text;
    uint32_t n_repeated = 0;
};

}  // namespace svc
