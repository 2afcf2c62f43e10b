// From the samples of a window to segments of text with times, as whisper-cli makes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../model/speech_model.h"
#include "graph_slices.h"

namespace svc {

// Times are seconds from the window's beginning.
struct SpeechWord {
    std::string text;
    double begin;
    double end;
    float probability;
};

struct SpeechSegment {
    std::string text;
    double begin;
    double end;
    float avg_logprob;
    float no_speech_prob;
    std::vector<int32_t> tokens;
    std::vector<std::string> texts;  // of the tokens, whose bytes may be parts of letters; empty for those that are no text
    std::vector<float> logprobs;     // of the tokens
    std::vector<SpeechWord> words;
    bool ends_turn = false;  // another speaker is next, as models of tinydiarize mark it
};

struct DecodeOptions {
    std::string language;  // its code
    bool translates = false;
    std::string prompt;
    float temperature = 0;
    bool has_words = false;
    bool tells_turns = false;
};

// One of the few states that compute with a model, lent for a window. One thread only.
class WindowDecoder {
  public:
    WindowDecoder(std::shared_ptr<SpeechModel> model, uint32_t n_threads);

    // Both throw StatusError internal, also once `is_over`.
    std::vector<SpeechSegment> decode(const std::vector<float> & samples, const DecodeOptions & options, CoreUse use,
                                      const std::function<bool()> & is_over);
    // The probability of each language, by whisper's number.
    std::vector<float> detect_language(const std::vector<float> & samples, CoreUse use, const std::function<bool()> & is_over);
    double longest_slice_ms() const { return slices_.longest_ms(); }

  private:
    struct Free {
        void operator()(whisper_state * state) const { whisper_free_state(state); }
    };

    whisper_state * state();
    SpeechSegment segment_at(int index, bool has_words) const;
    void add_word(std::vector<SpeechWord> & words, const whisper_token_data & token) const;

    std::shared_ptr<SpeechModel> model_;
    const int n_threads_;
    GraphSlices slices_;
    std::unique_ptr<whisper_state, Free> state_;
};

}  // namespace svc
