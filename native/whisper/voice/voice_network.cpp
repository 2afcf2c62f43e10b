#include "voice_network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "../../common/status.h"

namespace svc {

namespace {

constexpr size_t kWindow = 256;
constexpr size_t kHop = 128;
constexpr size_t kFrequencies = kWindow / 2 + 1;
constexpr size_t kSteps = 4;  // of the transform in a frame
constexpr size_t kGates = 512;
constexpr char kMagic[8] = {'s', 'v', 'c', 'v', 'a', 'd', '1', '\0'};

std::vector<float> read(std::ifstream & file, size_t count) {
    std::vector<float> values(count);
    const auto size = static_cast<std::streamsize>(count * sizeof(float));
    if (!file.read(reinterpret_cast<char *>(values.data()), size))
        throw StatusError("model_invalid", "the file of the voice activity model is cut off");
    return values;
}

// Weights of n_out rows of so many columns, with the rows innermost: sums then run over neighbours in memory.
std::vector<float> transposed(const std::vector<float> & values, size_t n_out) {
    const size_t n_in = values.size() / n_out;
    std::vector<float> result(values.size());
    for (size_t out = 0; out < n_out; out++)
        for (size_t in = 0; in < n_in; in++) result[in * n_out + out] = values[out * n_in + in];
    return result;
}

// Hann's window over cosines and sines, as torch.stft has them.
std::vector<float> fourier_basis() {
    const double turn = 2 * std::acos(-1.0) / kWindow;
    std::vector<float> basis(kWindow * 2 * kFrequencies);
    for (size_t n = 0; n < kWindow; n++) {
        const double window = 0.5 - 0.5 * std::cos(turn * static_cast<double>(n));
        for (size_t k = 0; k < kFrequencies; k++) {
            const double angle = turn * static_cast<double>(k * n % kWindow);
            basis[n * 2 * kFrequencies + k] = static_cast<float>(window * std::cos(angle));
            basis[n * 2 * kFrequencies + kFrequencies + k] = static_cast<float>(-window * std::sin(angle));
        }
    }
    return basis;
}

// Adds `factor` times the row to the sums.
void add(std::vector<float> & sums, const float * row, float factor) {
    for (size_t i = 0; i < sums.size(); i++) sums[i] += factor * row[i];
}

// Steps of n_in channels, one after the other -> steps of n_out. The step before the first and the one behind the last are zeros.
std::vector<float> convolve(const VoiceLayer & layer, const std::vector<float> & input) {
    const auto n_steps = static_cast<ptrdiff_t>(input.size() / layer.n_in);
    std::vector<float> result;
    for (ptrdiff_t at = -1; at + 2 <= n_steps; at += static_cast<ptrdiff_t>(layer.stride)) {
        auto sums = layer.bias;
        for (ptrdiff_t tap = 0; tap < 3; tap++) {
            const auto step = at + tap;
            if (step < 0 || step >= n_steps) continue;
            const float * channels = input.data() + static_cast<size_t>(step) * layer.n_in;
            for (size_t in = 0; in < layer.n_in; in++)
                add(sums, layer.weights.data() + (in * 3 + static_cast<size_t>(tap)) * layer.n_out, channels[in]);
        }
        for (const auto sum : sums) result.push_back(std::max(0.0f, sum));
    }
    return result;
}

float sigmoid(float value) { return 1 / (1 + std::exp(-value)); }

}  // namespace

std::shared_ptr<const VoiceWeights> VoiceWeights::load(const std::string & path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw StatusError("model_not_found", "the voice activity model " + path + " cannot be opened");
    char magic[sizeof kMagic];
    if (!file.read(magic, sizeof magic) || std::memcmp(magic, kMagic, sizeof magic) != 0)
        throw StatusError("model_invalid", path + " is no voice activity model");
    auto weights = std::make_shared<VoiceWeights>();
    weights->basis = fourier_basis();
    constexpr size_t shapes[4][3] = {{kFrequencies, 128, 1}, {128, 64, 2}, {64, 64, 2}, {64, 128, 1}};
    for (const auto & [n_in, n_out, stride] : shapes) {
        auto values = transposed(read(file, n_out * n_in * 3), n_out);
        auto bias = read(file, n_out);
        weights->layers.push_back({n_in, n_out, stride, std::move(values), std::move(bias)});
    }
    weights->recurrent = transposed(read(file, kGates * 128), kGates);
    const auto of_state = transposed(read(file, kGates * 128), kGates);
    weights->recurrent.insert(weights->recurrent.end(), of_state.begin(), of_state.end());
    weights->gate_bias = read(file, kGates);
    const auto more = read(file, kGates);
    for (size_t i = 0; i < kGates; i++) weights->gate_bias[i] += more[i];
    weights->output = read(file, 128);
    weights->output_bias = read(file, 1)[0];
    return weights;
}

float VoiceNetwork::listen(const float * samples) {
    auto values = spectrum(samples);
    for (const auto & layer : weights_->layers) values = convolve(layer, values);
    remember(values);
    float sum = weights_->output_bias;
    for (size_t i = 0; i < kState; i++) sum += weights_->output[i] * std::max(0.0f, hidden_[i]);
    return sigmoid(sum);
}

// Magnitudes of each frequency, of four windows one after the other. The end of the frame is mirrored behind it.
std::vector<float> VoiceNetwork::spectrum(const float * samples) {
    std::vector<float> padded(context_.begin(), context_.end());
    padded.insert(padded.end(), samples, samples + kFrame);
    std::copy(samples + kFrame - kContext, samples + kFrame, context_.begin());
    const size_t n_real = padded.size();
    for (size_t i = 0; i < kContext; i++) padded.push_back(padded[n_real - 2 - i]);
    std::vector<float> result;
    std::vector<float> sums(2 * kFrequencies);
    for (size_t step = 0; step < kSteps; step++) {
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (size_t n = 0; n < kWindow; n++) add(sums, weights_->basis.data() + n * sums.size(), padded[step * kHop + n]);
        for (size_t k = 0; k < kFrequencies; k++) result.push_back(std::hypot(sums[k], sums[kFrequencies + k]));
    }
    return result;
}

// One step of the LSTM, whose gates are input, forget, cell and output.
void VoiceNetwork::remember(const std::vector<float> & frame) {
    auto gates = weights_->gate_bias;
    const float * rows = weights_->recurrent.data();
    for (size_t i = 0; i < kState; i++) add(gates, rows + i * kGates, frame[i]);
    for (size_t i = 0; i < kState; i++) add(gates, rows + (kState + i) * kGates, hidden_[i]);
    for (size_t i = 0; i < kState; i++) {
        cell_[i] = sigmoid(gates[kState + i]) * cell_[i] + sigmoid(gates[i]) * std::tanh(gates[2 * kState + i]);
        hidden_[i] = sigmoid(gates[3 * kState + i]) * std::tanh(cell_[i]);
    }
}

}  // namespace svc
