#include "kernels.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace svc {

namespace {

uint32_t bits_of(float number) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    return bits;
}

float number_of(uint32_t bits) {
    float number;
    std::memcpy(&number, &bits, sizeof(number));
    return number;
}

float from_half(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
    const uint32_t exponent = (half >> 10) & 0x1f;
    const uint32_t fraction = half & 0x3ff;
    // Below the smallest normal number, the fraction counts units of 2^-24.
    if (exponent == 0) return number_of(sign | bits_of(static_cast<float>(fraction) * 0x1p-24f));
    if (exponent == 31) return number_of(sign | 0x7f800000 | fraction << 13);
    return number_of(sign | (exponent + 112) << 23 | fraction << 13);
}

// For numbers of magnitude 1 at most, which is what a row holds; ties go to even, as the instructions do.
uint16_t half_of(float number) {
    const uint32_t bits = bits_of(number);
    const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    const uint32_t magnitude = bits & 0x7fffffff;
    // Adding 0.5 leaves a fraction whose last bit is worth 2^-24, rounded by the addition itself.
    if (magnitude < bits_of(0x1p-14f)) return sign | static_cast<uint16_t>(bits_of(number_of(magnitude) + 0.5f) - bits_of(0.5f));
    return sign | static_cast<uint16_t>((magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13);
}

float plain_product(const float * query, const uint16_t * row, size_t count) {
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += query[i] * from_half(row[i]);
    return sum;
}

float plain_row_product(const uint16_t * one, const uint16_t * other, size_t count) {
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += from_half(one[i]) * from_half(other[i]);
    return sum;
}

void plain_to_half(const float * from, uint16_t * to, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = half_of(from[i]);
}

void plain_to_float(const uint16_t * from, float * to, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = from_half(from[i]);
}

int32_t plain_byte_product(const int8_t * one, const int8_t * other, size_t count) {
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += int32_t{one[i]} * other[i];
    return sum;
}

// Inlined into what is compiled for a CPU that counts bits by one instruction.
__attribute__((always_inline)) inline uint32_t counted_planes(const uint8_t * bits, const uint64_t * planes, size_t words) {
    uint32_t sums[kPlanes] = {};
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        std::memcpy(&word, bits + i * sizeof(word), sizeof(word));
        for (int plane = 0; plane < kPlanes; plane++)
            sums[plane] += static_cast<uint32_t>(__builtin_popcountll(word & planes[static_cast<size_t>(plane) * words + i]));
    }
    uint32_t sum = 0;
    for (int plane = 0; plane < kPlanes; plane++) sum += sums[plane] << plane;
    return sum;
}

uint32_t plain_plane_sum(const uint8_t * bits, const uint64_t * planes, size_t words) {
    return counted_planes(bits, planes, words);
}

constexpr Kernels kPlain{"plain",        plain_product,      plain_row_product, plain_to_half,
                         plain_to_float, plain_byte_product, plain_plane_sum};

#if defined(__x86_64__)

#define SVC_AVX2 __attribute__((target("avx2,fma,f16c,popcnt")))
#define SVC_AVX512 __attribute__((target("avx512f,avx512bw,avx2,fma,f16c,popcnt")))
#define SVC_AVX512_COUNT __attribute__((target("avx512f,avx512bw,avx512vpopcntdq,avx2,fma,f16c,popcnt")))

SVC_AVX2 __m256 avx2_row(const uint16_t * row) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(row)));
}

SVC_AVX2 float avx2_sum(__m256 a, __m256 b) {
    const __m256 both = _mm256_add_ps(a, b);
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

// Each addition waits for the one before it, so there are several sums.
SVC_AVX2 float avx2_product(const float * query, const uint16_t * row, size_t count) {
    __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        a = _mm256_fmadd_ps(_mm256_loadu_ps(query + i), avx2_row(row + i), a);
        b = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 8), avx2_row(row + i + 8), b);
        c = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 16), avx2_row(row + i + 16), c);
        d = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 24), avx2_row(row + i + 24), d);
    }
    for (; i < count; i += 8) a = _mm256_fmadd_ps(_mm256_loadu_ps(query + i), avx2_row(row + i), a);
    return avx2_sum(_mm256_add_ps(a, c), _mm256_add_ps(b, d));
}

SVC_AVX2 float avx2_row_product(const uint16_t * one, const uint16_t * other, size_t count) {
    __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        a = _mm256_fmadd_ps(avx2_row(one + i), avx2_row(other + i), a);
        b = _mm256_fmadd_ps(avx2_row(one + i + 8), avx2_row(other + i + 8), b);
        c = _mm256_fmadd_ps(avx2_row(one + i + 16), avx2_row(other + i + 16), c);
        d = _mm256_fmadd_ps(avx2_row(one + i + 24), avx2_row(other + i + 24), d);
    }
    for (; i < count; i += 8) a = _mm256_fmadd_ps(avx2_row(one + i), avx2_row(other + i), a);
    return avx2_sum(_mm256_add_ps(a, c), _mm256_add_ps(b, d));
}

SVC_AVX2 __m256i avx2_bytes(const int8_t * from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
}

SVC_AVX2 int32_t avx2_whole_sum(__m256i sum) {
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}

SVC_AVX2 int32_t avx2_byte_product(const int8_t * one, const int8_t * other, size_t count) {
    __m256i a = _mm256_setzero_si256(), b = a;
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        a = _mm256_add_epi32(a, _mm256_madd_epi16(avx2_bytes(one + i), avx2_bytes(other + i)));
        b = _mm256_add_epi32(b, _mm256_madd_epi16(avx2_bytes(one + i + 16), avx2_bytes(other + i + 16)));
    }
    for (; i < count; i += 16) a = _mm256_add_epi32(a, _mm256_madd_epi16(avx2_bytes(one + i), avx2_bytes(other + i)));
    return avx2_whole_sum(_mm256_add_epi32(a, b));
}

SVC_AVX2 uint32_t avx2_plane_sum(const uint8_t * bits, const uint64_t * planes, size_t words) {
    return counted_planes(bits, planes, words);
}

SVC_AVX2 void avx2_to_half(const float * from, uint16_t * to, size_t count) {
    for (size_t i = 0; i < count; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
}

SVC_AVX2 void avx2_to_float(const uint16_t * from, float * to, size_t count) {
    for (size_t i = 0; i < count; i += 8) _mm256_storeu_ps(to + i, avx2_row(from + i));
}

SVC_AVX512 __m512 avx512_row(const uint16_t * row) {
    return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(row)));
}

// By way of memory: what the compiler's header has for this warns of a variable of its own.
SVC_AVX512 float avx512_sum(__m512 sum) {
    alignas(64) float lanes[16];
    _mm512_store_ps(lanes, sum);
    return avx2_sum(_mm256_load_ps(lanes), _mm256_load_ps(lanes + 8));
}

SVC_AVX512 float avx512_product(const float * query, const uint16_t * row, size_t count) {
    __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        a = _mm512_fmadd_ps(_mm512_loadu_ps(query + i), avx512_row(row + i), a);
        b = _mm512_fmadd_ps(_mm512_loadu_ps(query + i + 16), avx512_row(row + i + 16), b);
        c = _mm512_fmadd_ps(_mm512_loadu_ps(query + i + 32), avx512_row(row + i + 32), c);
        d = _mm512_fmadd_ps(_mm512_loadu_ps(query + i + 48), avx512_row(row + i + 48), d);
    }
    for (; i < count; i += 16) a = _mm512_fmadd_ps(_mm512_loadu_ps(query + i), avx512_row(row + i), a);
    return avx512_sum(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
}

SVC_AVX512 float avx512_row_product(const uint16_t * one, const uint16_t * other, size_t count) {
    __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        a = _mm512_fmadd_ps(avx512_row(one + i), avx512_row(other + i), a);
        b = _mm512_fmadd_ps(avx512_row(one + i + 16), avx512_row(other + i + 16), b);
        c = _mm512_fmadd_ps(avx512_row(one + i + 32), avx512_row(other + i + 32), c);
        d = _mm512_fmadd_ps(avx512_row(one + i + 48), avx512_row(other + i + 48), d);
    }
    for (; i < count; i += 16) a = _mm512_fmadd_ps(avx512_row(one + i), avx512_row(other + i), a);
    return avx512_sum(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
}

SVC_AVX512 __m512i avx512_bytes(const int8_t * from) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
}

SVC_AVX512 int32_t avx512_byte_product(const int8_t * one, const int8_t * other, size_t count) {
    __m512i sum = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 32 <= count; i += 32)
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(avx512_bytes(one + i), avx512_bytes(other + i)));
    alignas(64) int32_t lanes[16];
    _mm512_store_si512(lanes, sum);
    const auto * halves = reinterpret_cast<const __m256i *>(lanes);
    __m256i both = _mm256_add_epi32(_mm256_load_si256(halves), _mm256_load_si256(halves + 1));
    for (; i < count; i += 16) both = _mm256_add_epi32(both, _mm256_madd_epi16(avx2_bytes(one + i), avx2_bytes(other + i)));
    return avx2_whole_sum(both);
}

// Eight words of a plane at a time; the last step takes as many as are left.
SVC_AVX512_COUNT uint32_t avx512_plane_sum(const uint8_t * bits, const uint64_t * planes, size_t words) {
    __m512i sum = _mm512_setzero_si512();
    for (size_t i = 0; i < words; i += 8) {
        const auto mask = static_cast<__mmask8>(words - i >= 8 ? 0xff : (1u << (words - i)) - 1);
        const __m512i word = _mm512_maskz_loadu_epi64(mask, bits + i * sizeof(uint64_t));
        for (int plane = 0; plane < kPlanes; plane++) {
            const __m512i other = _mm512_maskz_loadu_epi64(mask, planes + static_cast<size_t>(plane) * words + i);
            const __m512i counts = _mm512_maskz_popcnt_epi64(0xff, _mm512_and_si512(word, other));
            sum = _mm512_add_epi64(sum, _mm512_maskz_slli_epi64(0xff, counts, static_cast<unsigned>(plane)));
        }
    }
    alignas(64) uint64_t lanes[8];
    _mm512_store_si512(lanes, sum);
    uint64_t whole = 0;
    for (const auto lane : lanes) whole += lane;
    return static_cast<uint32_t>(whole);
}

constexpr Kernels kAvx2{"avx2", avx2_product, avx2_row_product, avx2_to_half, avx2_to_float, avx2_byte_product, avx2_plane_sum};
constexpr Kernels kAvx512{"avx512",      avx512_product,      avx512_row_product, avx2_to_half,
                          avx2_to_float, avx512_byte_product, avx2_plane_sum};
constexpr Kernels kAvx512Count{"avx512-vpopcntdq", avx512_product,      avx512_row_product, avx2_to_half,
                               avx2_to_float,      avx512_byte_product, avx512_plane_sum};

void add_usable(std::vector<const Kernels *> & to) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) return;
    if (!__builtin_cpu_supports("popcnt")) return;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
        if (__builtin_cpu_supports("avx512vpopcntdq")) to.push_back(&kAvx512Count);
        to.push_back(&kAvx512);
    }
    to.push_back(&kAvx2);
}

#elif defined(__aarch64__)

float32x4_t neon_row(const uint16_t * row) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(row))); }

float neon_product(const float * query, const uint16_t * row, size_t count) {
    float32x4_t sums[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
    for (size_t i = 0; i < count; i += 16)
        for (size_t j = 0; j < 4; j++) sums[j] = vfmaq_f32(sums[j], vld1q_f32(query + i + 4 * j), neon_row(row + i + 4 * j));
    return vaddvq_f32(vaddq_f32(vaddq_f32(sums[0], sums[1]), vaddq_f32(sums[2], sums[3])));
}

float neon_row_product(const uint16_t * one, const uint16_t * other, size_t count) {
    float32x4_t sums[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
    for (size_t i = 0; i < count; i += 16)
        for (size_t j = 0; j < 4; j++) sums[j] = vfmaq_f32(sums[j], neon_row(one + i + 4 * j), neon_row(other + i + 4 * j));
    return vaddvq_f32(vaddq_f32(vaddq_f32(sums[0], sums[1]), vaddq_f32(sums[2], sums[3])));
}

void neon_to_half(const float * from, uint16_t * to, size_t count) {
    for (size_t i = 0; i < count; i += 4) vst1_u16(to + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from + i))));
}

void neon_to_float(const uint16_t * from, float * to, size_t count) {
    for (size_t i = 0; i < count; i += 4) vst1q_f32(to + i, neon_row(from + i));
}

int32_t neon_byte_product(const int8_t * one, const int8_t * other, size_t count) {
    int32x4_t sum = vdupq_n_s32(0);
    for (size_t i = 0; i < count; i += 16) {
        const int8x16_t a = vld1q_s8(one + i);
        const int8x16_t b = vld1q_s8(other + i);
        sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
        sum = vpadalq_s16(sum, vmull_s8(vget_high_s8(a), vget_high_s8(b)));
    }
    return vaddvq_s32(sum);
}

constexpr Kernels kNeon{"neon", neon_product, neon_row_product, neon_to_half, neon_to_float, neon_byte_product, plain_plane_sum};

void add_usable(std::vector<const Kernels *> & to) { to.push_back(&kNeon); }

#else

void add_usable(std::vector<const Kernels *> &) {}

#endif

}  // namespace

const Kernels & kernels() {
    static const Kernels & chosen = *usable_kernels().front();
    return chosen;
}

std::vector<const Kernels *> usable_kernels() {
    std::vector<const Kernels *> usable;
    add_usable(usable);
    usable.push_back(&kPlain);
    return usable;
}

}  // namespace svc
