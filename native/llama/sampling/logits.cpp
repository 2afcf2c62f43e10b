#include "logits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// The addon is compiled for the oldest CPU it supports; these few functions are compiled for newer ones as well.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SVC_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SVC_VECTOR_CLONES
#endif

namespace svc {

namespace {

constexpr int32_t kLanes = 16;
constexpr int32_t kBlock = 64;

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
typedef int32_t Ints __attribute__((vector_size(kLanes * sizeof(int32_t))));

}  // namespace

// Largest of each block of 64 logits, and of what is left behind the last whole block.
SVC_VECTOR_CLONES static void block_maxima(const float * logits, int32_t n, float * maxima) {
    const int32_t n_blocks = n / kBlock;
    for (int32_t b = 0; b < n_blocks; b++) {
        const float * at = logits + static_cast<int64_t>(b) * kBlock;
        Floats best;
        std::memcpy(&best, at, sizeof best);
        for (int32_t i = kLanes; i < kBlock; i += kLanes) {
            Floats next;
            std::memcpy(&next, at + i, sizeof next);
            best = next > best ? next : best;
        }
        float largest = best[0];
        for (int32_t i = 1; i < kLanes; i++) largest = best[i] > largest ? best[i] : largest;
        maxima[b] = largest;
    }
    if (n % kBlock != 0) maxima[n_blocks] = *std::max_element(logits + static_cast<int64_t>(n_blocks) * kBlock, logits + n);
}

// exp() by splitting off the power of two; the rest is a polynomial (coefficients: Cephes expf). Inputs are at most 0.
SVC_VECTOR_CLONES static double sum_exp(const float * logits, int32_t n, float largest) {
    Floats sum = {};
    double total = 0;
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        Floats x;
        std::memcpy(&x, logits + i, sizeof x);
        x = x - largest;
        const Floats low = Floats{} - 87.0f;
        x = x > low ? x : low;
        const Floats scaled = x * 1.44269504f - 0.5f;
        const Ints whole = __builtin_convertvector(scaled, Ints);  // towards zero, and scaled <= 0: rounds to nearest
        const Floats power = __builtin_convertvector(whole, Floats);
        const Floats r = x - power * 0.693359375f + power * 2.12194440e-4f;
        Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
        p = p * r + 8.3334519073e-3f;
        p = p * r + 4.1665795894e-2f;
        p = p * r + 1.6666665459e-1f;
        p = p * r + 5.0000001201e-1f;
        p = p * r * r + r + 1.0f;
        const Ints bits = (whole + 127) << 23;
        Floats factor;
        std::memcpy(&factor, &bits, sizeof factor);
        sum += p * factor;
        // Partial sums stay small, so that single precision loses nothing that counts.
        if (((i / kLanes) & 63) == 63) {
            for (int32_t lane = 0; lane < kLanes; lane++) total += sum[lane];
            sum = Floats{};
        }
    }
    for (int32_t lane = 0; lane < kLanes; lane++) total += sum[lane];
    for (; i < n; i++) total += std::exp(logits[i] - largest);
    return total;
}

void top_logits(const float * logits, int32_t n, int32_t k, std::vector<llama_token_data> & top) {
    thread_local std::vector<float> maxima;
    maxima.resize(static_cast<size_t>(n / kBlock + 1));
    block_maxima(logits, n, maxima.data());
    auto larger = [](const llama_token_data & a, const llama_token_data & b) { return a.logit > b.logit; };
    top.clear();
    for (int32_t begin = 0; begin < n; begin += kBlock) {
        const bool full = static_cast<int32_t>(top.size()) == k;
        if (full && maxima[static_cast<size_t>(begin / kBlock)] <= top.front().logit) continue;
        for (int32_t i = begin; i < std::min(n, begin + kBlock); i++) {
            if (static_cast<int32_t>(top.size()) == k) {
                if (logits[i] <= top.front().logit) continue;
                std::pop_heap(top.begin(), top.end(), larger);
                top.pop_back();
            }
            top.push_back({i, logits[i], 0.0f});
            std::push_heap(top.begin(), top.end(), larger);
        }
    }
    std::sort_heap(top.begin(), top.end(), larger);
}

llama_token argmax(const float * logits, int32_t n) {
    thread_local std::vector<float> maxima;
    maxima.resize(static_cast<size_t>(n / kBlock + 1));
    block_maxima(logits, n, maxima.data());
    const auto n_blocks = (n + kBlock - 1) / kBlock;
    const auto block = std::max_element(maxima.begin(), maxima.begin() + n_blocks) - maxima.begin();
    const float * begin = logits + block * kBlock;
    const float * end = std::min(begin + kBlock, logits + n);
    return static_cast<llama_token>(std::max_element(begin, end) - logits);
}

float log_sum_exp(const float * logits, int32_t n, float largest) {
    return largest + static_cast<float>(std::log(sum_exp(logits, n, largest)));
}

}  // namespace svc
