// Who holds which tokens: a radix tree for each cache key, so that finding the longest common prefix costs as much as the prefix
// is long, however many owners there are. An owner is whatever holds tokens: a sequence, a planned prompt, a saved state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "llama.h"

namespace svc {

class PrefixTree {
  public:
    using Owner = uint32_t;

    struct Match {
        Owner owner = 0;
        size_t n_common = 0;
    };

    PrefixTree();
    ~PrefixTree();
    PrefixTree(const PrefixTree &) = delete;
    PrefixTree & operator=(const PrefixTree &) = delete;

    // Keys see nothing of each other. The owner must be new. Placeholders of media (LLAMA_TOKEN_NULL) never match, so an owner's
    // tokens count up to the first of them.
    void insert(Owner owner, const std::string & key, const llama_token * tokens, size_t count);
    void append(Owner owner, const llama_token * tokens, size_t count);
    void erase(Owner owner);

    // Owners that begin like `tokens`, at most `most` of them counted, the longest common prefix first. Where many share the same
    // length only some are named: `n_most` in all.
    std::vector<Match> find(const std::string & key, const std::vector<llama_token> & tokens, size_t most, size_t n_most) const;

    size_t n_nodes() const { return n_nodes_; }

  private:
    struct Node;
    // The owner's tokens are those on the way from the root to `offset` tokens into the node's edge.
    struct Place {
        Node * node = nullptr;
        size_t offset = 0;
        bool closed = false;  // a placeholder came: what follows never matches
        std::string key;
    };

    Node * add_child(Node & parent, const llama_token * tokens, size_t count);
    void split(Node & node, size_t at);
    void settle(Place & place, Owner owner, Node & node, size_t offset);
    void leave(Place & place, Owner owner);
    void tidy(Node * node, const std::string & key);
    void merge_child(Node & node);
    static void collect(const Node & node, size_t least, size_t n_common, size_t n_most, std::vector<Match> & found);

    std::unordered_map<std::string, std::unique_ptr<Node>> roots_;
    std::unordered_map<Owner, Place> owners_;
    size_t n_nodes_ = 0;
};

}  // namespace svc
