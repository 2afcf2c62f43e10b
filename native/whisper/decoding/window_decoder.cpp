#include "window_decoder.h"

#include <algorithm>

#include "../../common/status.h"
#include "../../whisper-cpp/whisper_build.h"

namespace svc {

namespace {

// whisper-cli's.
constexpr int kBeams = 5;
constexpr size_t kLeastSamples = 1600;

// Whisper counts time in hundredths of a second.
double seconds_of(int64_t time) { return static_cast<double>(std::max<int64_t>(0, time)) / 100; }

bool begins_word(const std::string & text) { return !text.empty() && text.front() == ' '; }

}  // namespace

WindowDecoder::WindowDecoder(std::shared_ptr<SpeechModel> model, uint32_t n_threads)
    : model_(std::move(model)), n_threads_(static_cast<int>(n_threads)), slices_(n_threads) {}

// Made for the first window: a model that nobody speaks to keeps no state in memory.
whisper_state * WindowDecoder::state() {
    if (!state_) state_.reset(whisper_init_state(model_->raw()));
    if (!state_) throw StatusError("out_of_memory", "there is no memory for another state of the speech model");
    return state_.get();
}

std::vector<SpeechSegment> WindowDecoder::decode(const std::vector<float> & samples, const DecodeOptions & options, CoreUse use,
                                                 const std::function<bool()> & is_over) {
    if (samples.size() < kLeastSamples) return {};
    auto params = whisper_full_default_params(WHISPER_SAMPLING_BEAM_SEARCH);
    params.n_threads = n_threads_;
    params.print_progress = false;
    params.print_timestamps = false;
    params.no_context = true;
    params.greedy.best_of = kBeams;
    params.beam_search.beam_size = kBeams;
    params.language = options.language.c_str();
    params.translate = options.translates;
    params.initial_prompt = options.prompt.empty() ? nullptr : options.prompt.c_str();
    params.temperature = options.temperature;
    params.token_timestamps = options.has_words;
    params.tdrz_enable = options.tells_turns;
    auto * used = state();
    const GraphSlices::Scope scope(slices_, use, is_over);
    const int result = svc_whisper_full(model_->raw(), used, params, samples.data(), static_cast<int>(samples.size()));
    if (result != 0) throw StatusError("internal", "the speech model failed (" + std::to_string(result) + ")");
    std::vector<SpeechSegment> segments;
    for (int i = 0; i < whisper_full_n_segments_from_state(used); i++) segments.push_back(segment_at(i, options.has_words));
    return segments;
}

std::vector<float> WindowDecoder::detect_language(const std::vector<float> & samples, CoreUse use,
                                                  const std::function<bool()> & is_over) {
    std::vector<float> probabilities(static_cast<size_t>(whisper_lang_max_id()) + 1);
    if (samples.size() < kLeastSamples) return probabilities;
    auto * used = state();
    const GraphSlices::Scope scope(slices_, use, is_over);
    const int size = static_cast<int>(samples.size());
    if (whisper_pcm_to_mel_with_state(model_->raw(), used, samples.data(), size, n_threads_) != 0 ||
        whisper_lang_auto_detect_with_state(model_->raw(), used, 0, n_threads_, probabilities.data()) < 0)
        throw StatusError("internal", "the speech model failed to detect the language");
    return probabilities;
}

SpeechSegment WindowDecoder::segment_at(int index, bool has_words) const {
    auto * used = state_.get();
    SpeechSegment segment{};
    segment.text = whisper_full_get_segment_text_from_state(used, index);
    segment.begin = seconds_of(whisper_full_get_segment_t0_from_state(used, index));
    segment.end = seconds_of(whisper_full_get_segment_t1_from_state(used, index));
    segment.no_speech_prob = whisper_full_get_segment_no_speech_prob_from_state(used, index);
    segment.ends_turn = whisper_full_get_segment_speaker_turn_next_from_state(used, index);
    double sum = 0;
    for (int i = 0; i < whisper_full_n_tokens_from_state(used, index); i++) {
        const auto token = whisper_full_get_token_data_from_state(used, index, i);
        segment.tokens.push_back(token.id);
        segment.logprobs.push_back(token.plog);
        sum += token.plog;
        const bool is_text = token.id < whisper_token_eot(model_->raw());
        segment.texts.emplace_back(is_text ? whisper_token_to_str(model_->raw(), token.id) : "");
        if (has_words && is_text) add_word(segment.words, token);
    }
    if (!segment.tokens.empty()) segment.avg_logprob = static_cast<float>(sum / static_cast<double>(segment.tokens.size()));
    return segment;
}

// Tokens are parts of words, and of letters.
void WindowDecoder::add_word(std::vector<SpeechWord> & words, const whisper_token_data & token) const {
    const std::string text = whisper_token_to_str(model_->raw(), token.id);
    if (words.empty() || begins_word(text)) {
        words.push_back({text, seconds_of(token.t0), seconds_of(token.t1), token.p});
        return;
    }
    auto & word = words.back();
    word.text += text;
    word.end = seconds_of(token.t1);
    word.probability = std::min(word.probability, token.p);
}

}  // namespace svc
