// kv-offload-test SEED N_OPERATIONS FOLDER: random saves and looks of some tenants, with what they find held against what they
// saved, and memory, disk and index against their bounds after each. Prints what it did; the first fault ends it with status 1.
#include "../kv/kv_offload.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "../tuning/tuning.h"

namespace {

using svc::KvOffload;
using Tokens = KvOffload::Tokens;

constexpr uint64_t kMemoryBytes = 200'000;
constexpr uint64_t kDiskBytes = 600'000;

std::mt19937 random_engine;

size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_engine); }

Tokens random_tokens(size_t n) {
    Tokens tokens(n);
    for (auto & token : tokens) token = static_cast<llama_token>(below(1'000));
    return tokens;
}

std::string key_of(const std::string & tenant) { return tenant + '\0' + "model"; }

// Its bytes tell which tokens it belongs to.
std::shared_ptr<const svc::KvState> state_of(const Tokens & tokens, size_t n_bytes) {
    auto state = std::make_shared<svc::KvState>();
    state->n_data = n_bytes;
    state->data.reset(new uint8_t[n_bytes]);
    for (size_t i = 0; i < n_bytes; i++) state->data[i] = static_cast<uint8_t>(tokens[i % tokens.size()]);
    return state;
}

bool belongs(const svc::KvState & state, const Tokens & tokens) {
    for (size_t i = 0; i < state.n_data; i++) {
        if (state.data[i] != static_cast<uint8_t>(tokens[i % tokens.size()])) return false;
    }
    return true;
}

int fault(long operation, const char * what) {
    std::printf("operation %ld: %s\n", operation, what);
    return 1;
}

// What is still found of what was saved, and what it takes to find it, at the least.
struct Kept {
    size_t n = 0;
    uint64_t index_bytes = 0;
};

Kept count_kept(const KvOffload & offload, const std::string & tenant, const std::vector<Tokens> & saved) {
    Kept kept;
    for (const auto & tokens : saved) {
        if (!offload.holds(key_of(tenant), tokens)) continue;
        kept.n++;
        kept.index_bytes += 2 * tokens.size() * sizeof(llama_token);
    }
    return kept;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 4) return 2;
    random_engine.seed(static_cast<unsigned>(std::atol(argv[1])));
    const long n_operations = std::atol(argv[2]);
    KvOffload offload({kMemoryBytes, kDiskBytes, argv[3], 0}, [] {});

    // Less than its even share, and never used again: nobody may push it out.
    const std::vector<Tokens> quiet = {random_tokens(50), random_tokens(80)};
    for (const auto & tokens : quiet) offload.put(key_of("quiet"), tokens, state_of(tokens, 5'000));

    std::map<std::string, std::vector<Tokens>> saved;
    size_t n_read = 0;
    for (long operation = 0; operation < n_operations; operation++) {
        const std::string tenant(1, static_cast<char>('a' + below(3)));
        auto & own = saved[tenant];
        if (own.empty() || below(2) == 0) {
            own.push_back(random_tokens(1 + below(60)));
            offload.put(key_of(tenant), own.back(), state_of(own.back(), 1 + below(below(40) == 0 ? 30'000 : 300)));
        } else {
            const auto & tokens = own[own.size() - 1 - below(std::min<size_t>(own.size(), 200))];
            const auto match = offload.find(key_of(tenant), tokens, tokens.size());
            if (match.id != 0 && match.n_common == tokens.size() && match.n_tokens == tokens.size()) {
                if (below(50) == 0) {
                    offload.drop(match.id);
                } else if (!match.in_memory) {
                    if (!offload.fetch(match.id)) return fault(operation, "a state on disk is not there");
                    for (int i = 0; i < 2'000 && offload.is_fetching(match.id); i++) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                        offload.poll();
                    }
                }
                if (const auto state = offload.get(match.id)) {
                    if (!belongs(*state, tokens)) return fault(operation, "another state was brought back");
                    n_read++;
                }
            }
        }
        // The disk follows.
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        offload.poll();
        if (offload.memory_bytes() > kMemoryBytes) return fault(operation, "more memory than there is");
        if (offload.disk_bytes() > kDiskBytes) return fault(operation, "more disk than there is");
    }

    Kept kept;
    for (const auto & [tenant, own] : saved) {
        const auto more = count_kept(offload, tenant, own);
        kept.n += more.n;
        kept.index_bytes += more.index_bytes;
    }
    const auto most = svc::kTuning.offload_index_share * static_cast<double>(kMemoryBytes);
    if (static_cast<double>(kept.index_bytes) > most) return fault(n_operations, "the index has more than its share");
    if (count_kept(offload, "quiet", quiet).n != quiet.size()) return fault(n_operations, "a quiet tenant lost a state");
    if (!offload.take_io_error().empty()) return fault(n_operations, "the disk failed");
    std::printf("%ld operations, %zu states read, %zu kept\n", n_operations, n_read, kept.n);
    return 0;
}
