// The matrix kernels of the CPU backends in a folder, each compared with a sum in double precision over the same weights.
//
// kernels BACKENDS: the features of the backend that was chosen, '|', how many products were compared. Products that are off, or
// that the backend refuses, are named on stderr and end the program with 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace {

// Weights are rows of K values, a multiple of every block; one column is a token of an answer, more are a prompt.
constexpr int64_t kLength = 256;
constexpr int64_t kRows = 16;
constexpr int64_t kColumns[] = {1, 5, 32};
// Activations are rounded to eight bits by most kernels.
constexpr double kMostError = 1e-3;

using Context = std::unique_ptr<ggml_context, decltype(&ggml_free)>;
using Buffer = std::unique_ptr<ggml_backend_buffer, decltype(&ggml_backend_buffer_free)>;
using Backend = std::unique_ptr<ggml_backend, decltype(&ggml_backend_free)>;
using Values = std::vector<float>;

Values random_values(size_t n, unsigned seed) {
    std::mt19937 source(seed);
    std::normal_distribution<float> normal;
    Values values(n);
    for (auto & value : values) value = normal(source);
    return values;
}

bool is_number(ggml_type type) { return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16; }

bool is_ordinary(const float * values, int64_t n) {
    const auto size = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
    const float largest = std::fabs(*std::max_element(values, values + n, size));
    return std::all_of(values, values + n, [](float value) { return std::isfinite(value); }) && largest > 0.01f &&
           largest < 100.0f;
}

// Weights of one type, as a file holds them, and as numbers. Quantised ones are random bits, drawn again until they mean numbers
// of an ordinary size: to choose them for given numbers takes seconds for some types.
struct Weights {
    ggml_type type;
    std::vector<uint8_t> bytes;
    Values values;

    explicit Weights(ggml_type type) : type(type), bytes(ggml_row_size(type, kLength) * kRows), values(kLength * kRows) {
        if (is_number(type)) {
            const auto source = random_values(values.size(), 1);
            ggml_quantize_chunk(type, source.data(), bytes.data(), 0, kRows, kLength, nullptr);
            if (type == GGML_TYPE_F32) values = source;
            else to_float(0, static_cast<int64_t>(values.size()));
            return;
        }
        std::mt19937 source(1);
        const auto block_values = ggml_blck_size(type);
        const auto block_bytes = static_cast<int64_t>(ggml_type_size(type));
        for (int64_t block = 0; block < kLength * kRows / block_values; block++) {
            do {
                for (int64_t i = 0; i < block_bytes; i++)
                    bytes[static_cast<size_t>(block * block_bytes + i)] = static_cast<uint8_t>(source());
                to_float(block, block_values);
            } while (!is_ordinary(values.data() + block * block_values, block_values));
        }
    }

  private:
    void to_float(int64_t block, int64_t n) {
        const auto * from = bytes.data() + block * static_cast<int64_t>(ggml_type_size(type));
        ggml_get_type_traits(type)->to_float(from, values.data() + block * ggml_blck_size(type), n);
    }
};

Context open_context() { return {ggml_init({ggml_tensor_overhead() * 8 + ggml_graph_overhead(), nullptr, true}), ggml_free}; }

// Squared error of a product beside the squared size of what it should be; negative: the backend does not take such weights
// there.
double error_of(ggml_backend_t backend, ggml_backend_buffer_type_t type, const Weights & weights, int64_t n_columns) {
    const auto weight_context = open_context();
    const auto context = open_context();
    auto * matrix = ggml_new_tensor_2d(weight_context.get(), weights.type, kLength, kRows);
    const Buffer weight_buffer(ggml_backend_alloc_ctx_tensors_from_buft(weight_context.get(), type), ggml_backend_buffer_free);
    auto * columns = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, kLength, n_columns);
    auto * product = ggml_mul_mat(context.get(), matrix, columns);
    auto * graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, product);
    if (!weight_buffer || !ggml_backend_supports_op(backend, product)) return -1;
    const Buffer buffer(ggml_backend_alloc_ctx_tensors(context.get(), backend), ggml_backend_buffer_free);
    const auto input = random_values(static_cast<size_t>(kLength * n_columns), 2);
    ggml_backend_tensor_set(matrix, weights.bytes.data(), 0, weights.bytes.size());
    ggml_backend_tensor_set(columns, input.data(), 0, input.size() * sizeof(float));
    if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS) throw std::runtime_error("nothing was computed");
    Values output(static_cast<size_t>(kRows * n_columns));
    ggml_backend_tensor_get(product, output.data(), 0, output.size() * sizeof(float));
    double error = 0;
    double size = 0;
    for (int64_t column = 0; column < n_columns; column++) {
        for (int64_t row = 0; row < kRows; row++) {
            double right = 0;
            for (int64_t i = 0; i < kLength; i++)
                right += static_cast<double>(weights.values[row * kLength + i]) * input[column * kLength + i];
            const double off = output[column * kRows + row] - right;
            error += off * off;
            size += right * right;
        }
    }
    return error / size;
}

// Where a backend keeps weights: as they are, and in each order of its own, which has kernels of its own.
std::vector<ggml_backend_buffer_type_t> buffer_types(ggml_backend_dev_t device) {
    std::vector<ggml_backend_buffer_type_t> types = {ggml_backend_dev_buffer_type(device)};
    auto * registry = ggml_backend_dev_backend_reg(device);
    auto get = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
        ggml_backend_reg_get_proc_address(registry, "ggml_backend_dev_get_extra_bufts"));
    for (auto * type = get ? get(device) : nullptr; type && *type; type++) types.push_back(*type);
    return types;
}

std::string features_of(ggml_backend_dev_t device) {
    auto get = reinterpret_cast<ggml_backend_get_features_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_get_features"));
    std::string names;
    for (auto * feature = get(ggml_backend_dev_backend_reg(device)); feature->name; feature++) {
        if (std::string(feature->value) == "1") names += std::string(feature->name) + ' ';
    }
    return names;
}

// Types that files hold no weights in: a kernel has them for activations alone.
bool is_for_activations(ggml_type type) { return type == GGML_TYPE_Q8_1 || type == GGML_TYPE_Q8_K; }

int compare_all(ggml_backend_dev_t device) {
    const Backend backend(ggml_backend_dev_init(device, nullptr), ggml_backend_free);
    // One thread waits for no other, on a busy machine or in an emulator.
    auto set_n_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_set_n_threads"));
    set_n_threads(backend.get(), 1);
    int n_compared = 0;
    bool is_right = true;
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const auto type = static_cast<ggml_type>(i);
        if (ggml_blck_size(type) == 0 || !(is_number(type) || ggml_is_quantized(type)) || is_for_activations(type)) continue;
        const Weights weights(type);
        for (auto * buffer_type : buffer_types(device)) {
            for (const auto n_columns : kColumns) {
                const double error = error_of(backend.get(), buffer_type, weights, n_columns);
                n_compared += error >= 0;
                const bool is_fine = error <= kMostError && (error >= 0 || buffer_type != ggml_backend_dev_buffer_type(device));
                if (!is_fine)
                    std::fprintf(stderr, "%s in %s with %d columns: error %g\n", ggml_type_name(type),
                                 ggml_backend_buft_name(buffer_type), static_cast<int>(n_columns), error);
                is_right = is_right && is_fine;
            }
        }
    }
    std::printf("%s| %d\n", features_of(device).c_str(), n_compared);
    return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "kernels BACKENDS\n");
        return 2;
    }
    ggml_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    ggml_backend_load_all_from_path(argv[1]);
    auto * device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (!device) {
        std::fprintf(stderr, "no backend in %s runs on this CPU\n", argv[1]);
        return 2;
    }
    return compare_all(device);
}
