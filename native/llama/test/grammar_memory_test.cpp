// grammar-memory-test: automata that grow while they run, in a memory that they share. Prints how many of the large ones were
// refused, whether together they stayed within their bound, whether a small one still went on, and what is left when all are
// gone.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../../common/status.h"
#include "../grammar/grammar.h"

using namespace svc;

namespace {

constexpr size_t kMostBytes = 32 << 20;
constexpr int kCount = 6;

// A table of thousands of kinds of characters for each of many states.
std::string large() {
    std::string kinds;
    for (int i = 0; i < 4000; i++) {
        const int c = 0x4e00 + 2 * i;
        kinds += {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    }
    return "root ::= [a" + kinds + "]{0,400}";
}

// False when it was refused on the way.
bool follow(Grammar & grammar, int n_characters) {
    const auto status = catch_status([&] {
        auto * state = grammar.start();
        for (int i = 0; i < n_characters; i++) state = grammar.next(state, 'a');
    });
    return status.code.empty();
}

std::unique_ptr<Grammar> grammar_of(const std::string & text, const std::shared_ptr<GrammarMemory> & memory) {
    return std::make_unique<Grammar>(std::make_shared<const GrammarRules>(parse_gbnf(text, nullptr)), memory);
}

}  // namespace

int main() {
    const auto memory = std::make_shared<GrammarMemory>(kMostBytes);
    std::vector<std::unique_ptr<Grammar>> all;
    int n_refused = 0;
    for (int i = 0; i < kCount; i++) {
        all.push_back(grammar_of(large(), memory));
        n_refused += !follow(*all.back(), 400);
    }
    const bool is_bounded = memory->used_bytes() <= kMostBytes + kCount * GrammarMemory::kSmallBytes;
    all.push_back(grammar_of("root ::= [a-z]{0,100}", memory));
    const bool goes_on = follow(*all.back(), 100);
    all.clear();
    std::printf("%d %d %d %zu\n", n_refused, is_bounded, goes_on, memory->used_bytes());
    return 0;
}
