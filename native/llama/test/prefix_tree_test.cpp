// prefix-tree-test SEED N_OPERATIONS: random operations on a PrefixTree, each answer held against a plain list of all owners.
// Prints what it did; the first difference ends it with status 1.
#include "../kv/prefix_tree.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

namespace {

using svc::PrefixTree;
using Tokens = std::vector<llama_token>;

struct Held {
    std::string key;
    Tokens tokens;
};

std::mt19937 random_engine;

size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_engine); }

// Few different tokens, so that prefixes are often shared; now and then a placeholder of media.
Tokens random_tokens(size_t n_most) {
    Tokens tokens(below(n_most + 1));
    for (auto & token : tokens) token = below(60) == 0 ? LLAMA_TOKEN_NULL : static_cast<llama_token>(below(2));
    return tokens;
}

size_t common(const Tokens & a, const Tokens & b, size_t most) {
    most = std::min({most, a.size(), b.size()});
    size_t i = 0;
    while (i < most && a[i] == b[i] && a[i] != LLAMA_TOKEN_NULL) i++;
    return i;
}

// The naive model: every owner, longest common prefix first.
std::vector<size_t> lengths(const std::map<uint32_t, Held> & model, const std::string & key, const Tokens & tokens, size_t most) {
    std::vector<size_t> found;
    for (const auto & [owner, held] : model) {
        const size_t n = held.key == key ? common(held.tokens, tokens, most) : 0;
        if (n > 0) found.push_back(n);
    }
    std::sort(found.rbegin(), found.rend());
    return found;
}

bool agrees(const PrefixTree & tree, const std::map<uint32_t, Held> & model, const std::string & key, const Tokens & tokens,
            size_t most, size_t n_most) {
    const auto found = tree.find(key, tokens, most, n_most);
    auto expected = lengths(model, key, tokens, most);
    expected.resize(std::min(expected.size(), n_most));
    if (found.size() != expected.size()) return false;
    for (size_t i = 0; i < found.size(); i++) {
        const auto held = model.find(found[i].owner);
        if (held == model.end() || held->second.key != key) return false;
        if (common(held->second.tokens, tokens, most) != found[i].n_common || found[i].n_common != expected[i]) return false;
    }
    return true;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 3) return 2;
    random_engine.seed(static_cast<unsigned>(std::atoi(argv[1])));
    const long n_operations = std::atol(argv[2]);
    PrefixTree tree;
    std::map<uint32_t, Held> model;
    uint32_t next_owner = 1;
    size_t n_matches = 0;
    for (long operation = 0; operation < n_operations; operation++) {
        const size_t kind = below(10);
        auto chosen = model.begin();
        if (!model.empty()) std::advance(chosen, static_cast<long>(below(model.size())));
        if (model.empty() || (kind < 3 && model.size() < 40)) {
            const Held held{below(3) ? "a" : "b", random_tokens(12)};
            tree.insert(next_owner, held.key, held.tokens.data(), held.tokens.size());
            model[next_owner++] = held;
        } else if (kind < 7) {
            const auto more = random_tokens(kind == 5 ? 12 : 1);
            tree.append(chosen->first, more.data(), more.size());
            chosen->second.tokens.insert(chosen->second.tokens.end(), more.begin(), more.end());
        } else {
            tree.erase(chosen->first);
            model.erase(chosen);
        }
        const auto tokens = random_tokens(16);
        const size_t most = below(20);
        const size_t n_most = 1 + below(45);
        for (const auto * key : {"a", "b", "c"}) {
            if (!agrees(tree, model, key, tokens, most, n_most)) {
                std::printf("operation %ld: the tree and the list differ for key %s\n", operation, key);
                return 1;
            }
            n_matches += tree.find(key, tokens, most, n_most).size();
        }
        if (tree.n_nodes() > 2 * model.size() + 2) {
            std::printf("operation %ld: %zu nodes for %zu owners\n", operation, tree.n_nodes(), model.size());
            return 1;
        }
    }
    for (const auto & [owner, held] : model) tree.erase(owner);
    std::printf("%ld operations, %zu matches, %zu nodes left\n", n_operations, n_matches, tree.n_nodes());
    return tree.n_nodes() == 0 ? 0 : 1;
}
