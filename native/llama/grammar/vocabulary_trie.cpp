#include "vocabulary_trie.h"

#include <algorithm>

namespace svc {

namespace {

// As llama.cpp's grammars see it: special tokens have their text.
std::string text_of(const llama_vocab * vocab, llama_token token) {
    std::string text(64, '\0');
    int32_t length = llama_token_to_piece(vocab, token, text.data(), static_cast<int32_t>(text.size()), 0, true);
    if (length < 0) {
        text.resize(static_cast<size_t>(-length));
        length = llama_token_to_piece(vocab, token, text.data(), static_cast<int32_t>(text.size()), 0, true);
    }
    text.resize(static_cast<size_t>(std::max(length, 0)));
    return text.find('\0') == std::string::npos && text.size() < UINT16_MAX ? text : "";
}

size_t common_prefix(std::string_view a, std::string_view b) {
    const size_t length = std::min(a.size(), b.size());
    return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(length), b.begin()).first -
                               a.begin());
}

}  // namespace

VocabularyTrie::VocabularyTrie(const llama_vocab * vocab) {
    const int32_t n_vocab = llama_vocab_n_tokens(vocab);
    is_end_.resize(static_cast<size_t>(n_vocab));
    for (llama_token token = 0; token < n_vocab; token++) {
        begins_.push_back(static_cast<uint32_t>(texts_.size()));
        if (llama_vocab_is_eog(vocab, token)) {
            is_end_[static_cast<size_t>(token)] = true;
            ends_.push_back(token);
            continue;
        }
        const auto text = text_of(vocab, token);
        texts_ += text;
        depth_ = std::max(depth_, text.size());
        if (!text.empty()) tokens_.push_back(token);
    }
    begins_.push_back(static_cast<uint32_t>(texts_.size()));
    std::sort(tokens_.begin(), tokens_.end(), [this](llama_token a, llama_token b) {
        const int order = text(a).compare(text(b));
        return order < 0 || (order == 0 && a < b);
    });
    build();
}

std::string_view VocabularyTrie::text(llama_token token) const {
    const auto index = static_cast<size_t>(token);
    return std::string_view(texts_).substr(begins_[index], begins_[index + 1] - begins_[index]);
}

void VocabularyTrie::build() {
    std::vector<uint32_t> path{0};  // nodes from the root to the last one
    nodes_.push_back({0, 0, 0, 0});
    std::string_view last;
    for (uint32_t i = 0; i < tokens_.size(); i++) {
        const auto word = text(tokens_[i]);
        const size_t shared = common_prefix(last, word);
        for (; path.size() > shared + 1; path.pop_back()) nodes_[path.back()].end = static_cast<uint32_t>(nodes_.size());
        for (size_t at = shared; at < word.size(); at++) {
            path.push_back(static_cast<uint32_t>(nodes_.size()));
            nodes_.push_back({0, i, static_cast<uint16_t>(at + 1), static_cast<uint8_t>(word[at])});
        }
        last = word;
    }
    for (uint32_t node : path) nodes_[node].end = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({0, static_cast<uint32_t>(tokens_.size()), 0, 0});
}

}  // namespace svc
