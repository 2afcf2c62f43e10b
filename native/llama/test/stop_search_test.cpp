// stop-search-test SEED N: what StopSearch holds back of random texts, held against trying every length. Prints how many texts it
// tried; the first difference ends it with status 1.
#include "../text/stop_search.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

std::mt19937 random_engine;

size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_engine); }

// Few different letters, so that beginnings come again inside a string.
std::string random_text(size_t n_most) {
    std::string text(below(n_most + 1), 'a');
    for (auto & c : text) c = static_cast<char>('a' + below(2));
    return text;
}

size_t held_back(const std::vector<std::string> & stops, const std::string & text) {
    size_t most = 0;
    for (const auto & stop : stops) {
        for (size_t length = 1; length < stop.size() && length <= text.size(); length++) {
            if (text.compare(text.size() - length, length, stop, 0, length) == 0) most = std::max(most, length);
        }
    }
    return most;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 3) return 2;
    random_engine.seed(static_cast<unsigned>(std::atoi(argv[1])));
    const int count = std::atoi(argv[2]);
    for (int i = 0; i < count; i++) {
        std::vector<std::string> stops(below(4));
        for (auto & stop : stops) stop = random_text(12);
        const svc::StopSearch search(stops);
        const auto text = random_text(40);
        const size_t found = search.held_back(text);
        const size_t expected = held_back(stops, text);
        if (found == expected) continue;
        std::printf("'%s': %zu held back instead of %zu\n", text.c_str(), found, expected);
        return 1;
    }
    std::printf("%d texts\n", count);
    return 0;
}
