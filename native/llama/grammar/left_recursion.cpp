#include "left_recursion.h"

#include <algorithm>

namespace svc {

namespace {

using Kind = GrammarSymbol::Kind;
using Edges = std::vector<std::vector<uint32_t>>;

// Rules that can be empty. A rule is found once, when the last symbol of one of its alternatives turns out to be.
std::vector<bool> nullable_rules(const GrammarRules & grammar) {
    struct Alternative {
        uint32_t rule;
        size_t n_solid;  // symbols not known to be possibly empty
    };
    std::vector<Alternative> alternatives;
    std::vector<std::vector<size_t>> users(grammar.rules.size());
    std::vector<bool> nullable(grammar.rules.size());
    std::vector<uint32_t> found;
    auto mark = [&](uint32_t rule) {
        if (nullable[rule]) return;
        nullable[rule] = true;
        found.push_back(rule);
    };
    for (uint32_t rule = 0; rule < grammar.rules.size(); rule++) {
        for (uint32_t at : grammar.rules[rule]) {
            alternatives.push_back({rule, 0});
            for (; grammar.symbols[at].kind != Kind::End; at++) {
                alternatives.back().n_solid++;
                if (grammar.symbols[at].kind == Kind::Rule) users[grammar.symbols[at].value].push_back(alternatives.size() - 1);
            }
            if (alternatives.back().n_solid == 0) mark(rule);
        }
    }
    while (!found.empty()) {
        const uint32_t rule = found.back();
        found.pop_back();
        for (size_t user : users[rule]) {
            if (--alternatives[user].n_solid == 0) mark(alternatives[user].rule);
        }
    }
    return nullable;
}

struct Begins {
    Edges rules;      // what each rule may begin with
    Edges with_rest;  // of those, what something follows
};

Begins find_begins(const GrammarRules & grammar) {
    const auto nullable = nullable_rules(grammar);
    Begins begins{Edges(grammar.rules.size()), Edges(grammar.rules.size())};
    for (uint32_t rule = 0; rule < grammar.rules.size(); rule++) {
        for (uint32_t at : grammar.rules[rule]) {
            for (; grammar.symbols[at].kind == Kind::Rule; at++) {
                const uint32_t used = grammar.symbols[at].value;
                begins.rules[rule].push_back(used);
                if (grammar.symbols[at + 1].kind != Kind::End) begins.with_rest[rule].push_back(used);
                if (!nullable[used]) break;
            }
        }
    }
    return begins;
}

// Rules in the order in which a depth-first walk leaves them.
std::vector<uint32_t> finishing_order(const Edges & edges) {
    std::vector<uint32_t> order;
    std::vector<bool> seen(edges.size());
    std::vector<std::pair<uint32_t, size_t>> path;
    for (uint32_t root = 0; root < edges.size(); root++) {
        if (seen[root]) continue;
        seen[root] = true;
        path.push_back({root, 0});
        while (!path.empty()) {
            auto & [rule, next] = path.back();
            if (next == edges[rule].size()) {
                order.push_back(rule);
                path.pop_back();
                continue;
            }
            const uint32_t to = edges[rule][next++];
            if (seen[to]) continue;
            seen[to] = true;
            path.push_back({to, 0});
        }
    }
    return order;
}

Edges reversed(const Edges & edges) {
    Edges back(edges.size());
    for (uint32_t from = 0; from < edges.size(); from++) {
        for (uint32_t to : edges[from]) back[to].push_back(from);
    }
    return back;
}

// Gives rules that can begin with each other the same number (Kosaraju).
std::vector<uint32_t> components(const Edges & edges) {
    auto order = finishing_order(edges);
    const auto back = reversed(edges);
    std::vector<uint32_t> component(edges.size(), UINT32_MAX);
    std::vector<uint32_t> todo;
    for (auto root = order.rbegin(); root != order.rend(); root++) {
        if (component[*root] != UINT32_MAX) continue;
        component[*root] = *root;
        todo.push_back(*root);
        while (!todo.empty()) {
            const uint32_t rule = todo.back();
            todo.pop_back();
            for (uint32_t from : back[rule]) {
                if (component[from] != UINT32_MAX) continue;
                component[from] = *root;
                todo.push_back(from);
            }
        }
    }
    return component;
}

}  // namespace

bool has_left_recursion(const GrammarRules & grammar) {
    const auto begins = find_begins(grammar);
    const auto component = components(begins.rules);
    for (uint32_t rule = 0; rule < begins.with_rest.size(); rule++) {
        for (uint32_t used : begins.with_rest[rule]) {
            if (component[rule] == component[used]) return true;
        }
    }
    return false;
}

}  // namespace svc
