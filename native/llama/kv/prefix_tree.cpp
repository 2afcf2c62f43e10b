#include "prefix_tree.h"

#include "../../common/memory_wait.h"

#include <algorithm>

namespace svc {

// A node stands for the tokens of its edge, which follow its parent's. Owners may end anywhere within the edge, so a node
// branches or is a leaf: there are less than two nodes for each owner.
struct PrefixTree::Node {
    Node * parent = nullptr;
    std::vector<llama_token> edge;
    std::unordered_map<llama_token, std::unique_ptr<Node>> children;
    std::vector<std::pair<Owner, size_t>> owners;  // with the offset where each ends; 0 only in a root
};

PrefixTree::PrefixTree() = default;
PrefixTree::~PrefixTree() = default;

void PrefixTree::insert(Owner owner, const std::string & key, const llama_token * tokens, size_t count) {
    const MemoryWait wait;
    auto & root = roots_[key];
    if (!root) {
        root = std::make_unique<Node>();
        n_nodes_++;
    }
    auto & place = owners_[owner];
    place.key = key;
    settle(place, owner, *root, 0);
    append(owner, tokens, count);
}

void PrefixTree::append(Owner owner, const llama_token * tokens, size_t count) {
    const MemoryWait wait;
    auto & place = owners_.at(owner);
    if (place.closed) return;
    const auto * end = std::find(tokens, tokens + count, LLAMA_TOKEN_NULL);
    place.closed = end != tokens + count;
    if (end == tokens) return;
    Node * node = place.node;
    size_t offset = place.offset;
    leave(place, owner);
    while (tokens != end) {
        if (offset < node->edge.size()) {
            if (node->edge[offset] == *tokens) {
                offset++;
                tokens++;
                continue;
            }
            split(*node, offset);
        }
        const auto child = node->children.find(*tokens);
        if (child != node->children.end()) {
            node = child->second.get();
            offset = 0;
        } else if (node->children.empty() && node->parent) {
            node->edge.insert(node->edge.end(), tokens, end);
            offset = node->edge.size();
            tokens = end;
        } else {
            node = add_child(*node, tokens, static_cast<size_t>(end - tokens));
            offset = node->edge.size();
            tokens = end;
        }
    }
    settle(place, owner, *node, offset);
}

void PrefixTree::erase(Owner owner) {
    const MemoryWait wait;
    auto found = owners_.find(owner);
    if (found == owners_.end()) return;
    const Place place = found->second;
    leave(found->second, owner);
    owners_.erase(found);
    tidy(place.node, place.key);
}

std::vector<PrefixTree::Match> PrefixTree::find(const std::string & key, const std::vector<llama_token> & tokens, size_t most,
                                                size_t n_most) const {
    std::vector<Match> found;
    const auto root = roots_.find(key);
    if (root == roots_.end()) return found;
    most = std::min(most, tokens.size());
    const Node * node = root->second.get();
    size_t depth = 0;   // tokens before the node's edge
    size_t offset = 0;  // tokens of the edge that match
    for (size_t i = 0; i < most;) {
        if (offset < node->edge.size()) {
            if (node->edge[offset] != tokens[i]) break;
            offset++;
            i++;
            continue;
        }
        const auto child = node->children.find(tokens[i]);
        if (child == node->children.end()) break;
        depth += node->edge.size();
        node = child->second.get();
        offset = 0;
    }
    // Everybody at or below the place reached has all of it in common; those who end or branch off before have less.
    collect(*node, offset, depth + offset, n_most, found);
    size_t least = offset;
    while (found.size() < n_most) {
        std::vector<Match> shorter;
        for (const auto & [owner, end] : node->owners) {
            if (end > 0 && end < least) shorter.push_back({owner, depth + end});
        }
        std::sort(shorter.begin(), shorter.end(), [](const Match & a, const Match & b) { return a.n_common > b.n_common; });
        for (const auto & match : shorter) {
            if (found.size() < n_most) found.push_back(match);
        }
        const Node * below = node;
        node = node->parent;
        if (!node || !node->parent) break;
        const size_t end = depth;
        depth -= node->edge.size();
        least = node->edge.size();
        for (const auto & [owner, at] : node->owners) {
            if (at == least && found.size() < n_most) found.push_back({owner, end});
        }
        for (const auto & [token, child] : node->children) {
            if (child.get() != below && found.size() < n_most) collect(*child, 0, end, n_most, found);
        }
    }
    return found;
}

// Owners at least `least` tokens into the node, and all below it, until there are `n_most`.
void PrefixTree::collect(const Node & node, size_t least, size_t n_common, size_t n_most, std::vector<Match> & found) {
    if (n_common == 0) return;
    for (const auto & [owner, end] : node.owners) {
        if (found.size() >= n_most) return;
        if (end >= least) found.push_back({owner, n_common});
    }
    for (const auto & [token, child] : node.children) {
        if (found.size() >= n_most) return;
        collect(*child, 0, n_common, n_most, found);
    }
}

PrefixTree::Node * PrefixTree::add_child(Node & parent, const llama_token * tokens, size_t count) {
    auto child = std::make_unique<Node>();
    child->parent = &parent;
    child->edge.assign(tokens, tokens + count);
    n_nodes_++;
    return (parent.children[*tokens] = std::move(child)).get();
}

// Cuts the edge: the node keeps the first `at` tokens, and a new child gets the rest with all that hung below.
void PrefixTree::split(Node & node, size_t at) {
    auto children = std::move(node.children);
    node.children.clear();
    Node * lower = add_child(node, node.edge.data() + at, node.edge.size() - at);
    for (auto & [token, child] : children) child->parent = lower;
    lower->children = std::move(children);
    node.edge.resize(at);
    const auto below =
        std::stable_partition(node.owners.begin(), node.owners.end(), [at](const auto & o) { return o.second <= at; });
    for (auto it = below; it != node.owners.end(); ++it) settle(owners_.at(it->first), it->first, *lower, it->second - at);
    node.owners.erase(below, node.owners.end());
}

void PrefixTree::settle(Place & place, Owner owner, Node & node, size_t offset) {
    place.node = &node;
    place.offset = offset;
    node.owners.emplace_back(owner, offset);
}

void PrefixTree::leave(Place & place, Owner owner) {
    auto & owners = place.node->owners;
    owners.erase(std::find_if(owners.begin(), owners.end(), [owner](const auto & o) { return o.first == owner; }));
}

// Is called after an owner left: drops tokens that nobody holds any more, and joins a node with its only child.
void PrefixTree::tidy(Node * node, const std::string & key) {
    while (node->parent && node->children.empty() && node->owners.empty()) {
        Node * parent = node->parent;
        parent->children.erase(node->edge.front());
        n_nodes_--;
        node = parent;
    }
    if (!node->parent) {
        if (node->children.empty() && node->owners.empty()) {
            roots_.erase(key);
            n_nodes_--;
        }
        return;
    }
    if (node->children.size() == 1) merge_child(*node);
    if (!node->children.empty()) return;
    size_t longest = 0;
    for (const auto & [owner, end] : node->owners) longest = std::max(longest, end);
    node->edge.resize(longest);
}

void PrefixTree::merge_child(Node & node) {
    auto child = std::move(node.children.begin()->second);
    node.children = std::move(child->children);
    for (auto & [token, grandchild] : node.children) grandchild->parent = &node;
    const size_t n_before = node.edge.size();
    for (const auto & [owner, end] : child->owners) settle(owners_.at(owner), owner, node, n_before + end);
    node.edge.insert(node.edge.end(), child->edge.begin(), child->edge.end());
    n_nodes_--;
}

}  // namespace svc
