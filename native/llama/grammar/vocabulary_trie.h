// The texts of a vocabulary's tokens as a tree over bytes, so that tokens with the same beginning are judged together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llama.h"

namespace svc {

class VocabularyTrie {
  public:
    explicit VocabularyTrie(const llama_vocab * vocab);

    // In preorder: the children of a node follow it, up to `end`. Node 0 is the root, which has no byte.
    struct Node {
        uint32_t end;
        uint32_t tokens_begin;  // tokens()[tokens_begin..next node's tokens_begin) end here
        uint16_t depth;
        uint8_t byte;
    };

    const std::vector<Node> & nodes() const { return nodes_; }  // closed by a node behind the last
    const std::vector<llama_token> & tokens() const { return tokens_; }
    size_t depth() const { return depth_; }
    int32_t n_vocab() const { return static_cast<int32_t>(begins_.size()) - 1; }

    // Empty for tokens without text, those that contain a zero byte, and those that end a generation.
    std::string_view text(llama_token token) const;
    bool is_end(llama_token token) const { return is_end_[static_cast<size_t>(token)]; }
    const std::vector<llama_token> & ends() const { return ends_; }

  private:
    void build();

    std::string texts_;
    std::vector<uint32_t> begins_;
    std::vector<bool> is_end_;
    std::vector<llama_token> ends_;
    std::vector<llama_token> tokens_;
    std::vector<Node> nodes_;
    size_t depth_ = 0;
};

}  // namespace svc
