#include "speech_windows.h"

#include <algorithm>

namespace svc {

namespace {

constexpr size_t frames_of(double seconds) { return static_cast<size_t>(seconds * kSampleRate / kFrame); }

// What whisper hears at a time.
constexpr size_t kMostSamples = 30 * kSampleRate;
constexpr size_t kMostFrames = kMostSamples / kFrame;
// Speech begins at the first probability and ends below the second, as Silero's own program has it.
constexpr float kSpeech = 0.5f;
constexpr float kSilence = 0.35f;
// A pause within a sentence is no end of speech; a click is no speech.
constexpr size_t kPause = frames_of(0.5);
constexpr size_t kShortest = frames_of(0.25);
// Kept around speech: a word's quiet beginning and end.
constexpr size_t kMargin = frames_of(0.4);
// A window ends at a longer pause: speech models invent text in it. A window costs the same however short it is.
constexpr size_t kLongPause = frames_of(5);

}  // namespace

void SpeechWindows::write(const std::vector<float> & samples) { samples_.insert(samples_.end(), samples.begin(), samples.end()); }

std::optional<SpeechWindow> SpeechWindows::next() {
    if (skips_silence_) {
        listen();
        return next_speech();
    }
    const bool is_more = samples_.size() > kMostSamples;
    if (!is_more && (!is_ended_ || samples_.empty())) return std::nullopt;
    if (is_more) listen();
    auto window = take(is_more ? find_cut() : (samples_.size() + kFrame - 1) / kFrame);
    n_speech_ += window.end() - window.begin;
    return window;
}

// The last frame of a recording is filled up with silence.
void SpeechWindows::listen() {
    while ((speech_.size() + 1) * kFrame <= samples_.size())
        speech_.push_back(network_.listen(&samples_[speech_.size() * kFrame]));
    const size_t n_heard = speech_.size() * kFrame;
    if (!is_ended_ || n_heard >= samples_.size()) return;
    std::vector<float> last(samples_.begin() + static_cast<ptrdiff_t>(n_heard), samples_.end());
    last.resize(kFrame);
    speech_.push_back(network_.listen(last.data()));
}

std::vector<SpeechWindows::Stretch> SpeechWindows::find_speech() const {
    std::vector<Stretch> found;
    std::optional<Stretch> open;
    const auto close = [&] {
        if (open && open->end - open->begin >= kShortest) found.push_back(*open);
        open.reset();
    };
    for (size_t i = 0; i < speech_.size(); i++) {
        if (!open && speech_[i] >= kSpeech) open = Stretch{i, i};
        if (open && speech_[i] >= kSilence) open->end = i + 1;
        if (open && i + 1 - open->end >= kPause) close();
    }
    close();
    return found;
}

std::optional<SpeechWindow> SpeechWindows::next_speech() {
    auto speech = find_speech();
    if (speech.empty()) {
        // What is no speech yet may become some.
        const size_t n_kept = is_ended_ ? 0 : std::min(speech_.size(), kShortest + kPause + kMargin);
        drop(speech_.size() - n_kept);
        return std::nullopt;
    }
    const size_t n_before = speech.front().begin > kMargin ? speech.front().begin - kMargin : 0;
    drop(n_before);
    for (auto & stretch : speech) stretch = {stretch.begin - n_before, stretch.end - n_before};
    const auto end = find_end(speech);
    if (!end) return std::nullopt;
    for (const auto & stretch : speech) {
        if (stretch.begin < *end) n_speech_ += static_cast<int64_t>((std::min(stretch.end, *end) - stretch.begin) * kFrame);
    }
    return take(*end);
}

std::optional<size_t> SpeechWindows::find_end(const std::vector<Stretch> & speech) const {
    for (size_t i = 0; i < speech.size() && speech[i].end + kMargin <= kMostFrames; i++) {
        const bool is_last = i + 1 == speech.size();
        const size_t until = is_last ? speech_.size() : speech[i + 1].begin;
        if (until - speech[i].end >= kLongPause) return speech[i].end + kMargin;
        if (is_last && is_ended_) return std::min(speech_.size(), speech[i].end + kMargin);
    }
    if (speech_.size() > kMostFrames) return find_cut();
    return is_ended_ ? std::optional(speech_.size()) : std::nullopt;
}

// The middle of the longest pause in the second half of a window, or else the frame that is least like speech.
size_t SpeechWindows::find_cut() const {
    size_t longest = 0;
    size_t cut = kMostFrames;
    size_t length = 0;
    for (size_t i = kMostFrames / 2; i < kMostFrames; i++) {
        length = speech_[i] < kSilence ? length + 1 : 0;
        if (length <= longest) continue;
        longest = length;
        cut = i + 1 - length / 2;
    }
    if (longest > 0) return cut;
    const auto half = speech_.begin() + static_cast<ptrdiff_t>(kMostFrames / 2);
    return static_cast<size_t>(std::min_element(half, speech_.begin() + static_cast<ptrdiff_t>(kMostFrames)) - speech_.begin()) +
           1;
}

SpeechWindow SpeechWindows::take(size_t n_frames) {
    const auto n_samples = static_cast<ptrdiff_t>(std::min(samples_.size(), n_frames * kFrame));
    SpeechWindow window{begin_, {samples_.begin(), samples_.begin() + n_samples}};
    drop(n_frames);
    return window;
}

void SpeechWindows::drop(size_t n_frames) {
    const auto n_samples = std::min(samples_.size(), n_frames * kFrame);
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(n_samples));
    const auto n_heard = std::min(speech_.size(), n_frames);
    speech_.erase(speech_.begin(), speech_.begin() + static_cast<ptrdiff_t>(n_heard));
    begin_ += static_cast<int64_t>(n_samples);
}

}  // namespace svc
