// Silero's voice activity network, version 5, for 16,000 samples a second: the probability of speech in each frame of 512
// samples. Written out here since it is small, and whisper.cpp's version gives it other samples around a frame than it was
// trained with.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace svc {

constexpr size_t kFrame = 512;
constexpr size_t kSampleRate = 16000;

// A convolution over 3 steps in time. Weights lie by input channel and step, and there by output channel.
struct VoiceLayer {
    size_t n_in;
    size_t n_out;
    size_t stride;
    std::vector<float> weights;
    std::vector<float> bias;
};

class VoiceWeights {
  public:
    // The file that models/silero-vad/convert.py wrote. Throws StatusError model_not_found or model_invalid.
    static std::shared_ptr<const VoiceWeights> load(const std::string & path);

    std::vector<float>
        basis;  // of the Fourier transform with its window: by sample, and there cosines and sines of each frequency
    std::vector<VoiceLayer> layers;
    std::vector<float> recurrent;  // by input (128 of the frame, 128 of the state), and there by gate
    std::vector<float> gate_bias;
    std::vector<float> output;
    float output_bias = 0;
};

// It listens to one recording, frame by frame.
class VoiceNetwork {
  public:
    explicit VoiceNetwork(std::shared_ptr<const VoiceWeights> weights) : weights_(std::move(weights)) {}

    // 0 to 1, of the next 512 samples.
    float listen(const float * samples);

  private:
    static constexpr size_t kContext = 64;
    static constexpr size_t kState = 128;

    std::vector<float> spectrum(const float * samples);
    void remember(const std::vector<float> & frame);

    std::shared_ptr<const VoiceWeights> weights_;
    std::array<float, kContext> context_{};  // the samples before the frame
    std::array<float, kState> hidden_{};
    std::array<float, kState> cell_{};
};

}  // namespace svc
