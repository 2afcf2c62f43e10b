#include "ngram_index.h"

#include <algorithm>

namespace svc {

namespace {

constexpr size_t kLeastSlots = 256;

// Hash of the n tokens before `end`.
size_t hash_of(const std::vector<llama_token> & tokens, size_t end, size_t n) {
    uint64_t hash = n;
    for (size_t i = end - n; i < end; i++) hash = (hash ^ static_cast<uint32_t>(tokens[i])) * 0x9E3779B97F4A7C15ull;
    return static_cast<size_t>(hash >> 24);
}

// How many tokens before `a` and before `b` are equal. Media placeholders equal nothing.
uint32_t common_suffix(const std::vector<llama_token> & tokens, size_t a, size_t b, uint32_t most) {
    uint32_t n = 0;
    while (n < most && n < a && tokens[a - n - 1] == tokens[b - n - 1] && tokens[a - n - 1] != LLAMA_TOKEN_NULL) n++;
    return n;
}

}  // namespace

void NgramIndex::follow(const std::vector<llama_token> & tokens) {
    if (tokens.size() * 4 > places_[0].size() * 3) grow(tokens, tokens.size());
    const size_t most = std::min(tokens.size(), n_followed_ + kMostAtOnce);
    // The last token has no successor yet: what ends with it is indexed when the next one comes.
    for (size_t end = std::max<size_t>(n_followed_, 1); end < most; end++) add(tokens, end);
    n_followed_ = most;
}

NgramIndex::Match NgramIndex::find(const std::vector<llama_token> & tokens) const {
    const size_t end = tokens.size();
    if (n_followed_ < end) return {};
    for (size_t n = kLongest; n >= kShortest; n--) {
        const auto & places = places_[n - kShortest];
        if (end <= n || places.empty()) continue;
        const size_t next = places[hash_of(tokens, end, n) & (places.size() - 1)];
        if (next == 0 || next >= end || tokens[next] == LLAMA_TOKEN_NULL) continue;
        const uint32_t length = common_suffix(tokens, next, end, kMostLength);
        if (length >= n) return {next, length};
    }
    return {};
}

void NgramIndex::add(const std::vector<llama_token> & tokens, size_t end) {
    for (size_t n = kShortest; n <= std::min(kLongest, end); n++) {
        auto & places = places_[n - kShortest];
        places[hash_of(tokens, end, n) & (places.size() - 1)] = static_cast<uint32_t>(end);
    }
}

void NgramIndex::grow(const std::vector<llama_token> & tokens, size_t n_tokens) {
    size_t n_slots = kLeastSlots;
    while (n_slots * 2 < n_tokens * 3) n_slots *= 2;
    decltype(places_) fresh;
    for (auto & places : fresh) places.assign(n_slots, 0);
    places_.swap(fresh);
    for (size_t end = 1; end < n_followed_; end++) add(tokens, end);
}

}  // namespace svc
