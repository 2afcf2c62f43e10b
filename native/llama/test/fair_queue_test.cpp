// fair-queue-test order WORD...: a queue by words, prints what is taken out.
//   TENANT:NAME[*PRIORITY]  comes to wait; `pop` or `pop=COST` takes the next one, `pop!TENANT` that of others; `run=TENANT`,
//   `end=TENANT` change what it runs; `drop=TENANT` takes out all that it has waiting; `NAME-` takes that one out.
// fair-queue-test random SEED N: against a plain list; prints `operations N`, and ends with status 1 where they differ.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "../../scheduling/fair_queue.h"

namespace {

using namespace svc;
using Queue = FairQueue<std::string>;

void change_running(Queue & queue, const std::string & tenant, int by) {
    queue.change_share(tenant,
                       [&](TenantShares &, TenantShares::Share & share) { share.n_running += static_cast<uint32_t>(by); });
}

void push(Queue & queue, std::map<std::string, Queue::Ticket> & tickets, const std::string & word) {
    const auto colon = word.find(':');
    const auto star = word.find('*');
    const auto name = word.substr(colon + 1, star == std::string::npos ? star : star - colon - 1);
    const int priority = star == std::string::npos ? 0 : std::atoi(word.c_str() + star + 1);
    tickets[name] = queue.push(word.substr(0, colon), priority, name);
}

int show_order(int count, char ** words) {
    Queue queue;
    std::map<std::string, Queue::Ticket> tickets;
    const char * space = "";
    for (int i = 0; i < count; i++) {
        const std::string word = words[i];
        const auto behind = word.substr(std::min(word.size(), word.find('=') + 1));
        if (word.rfind("pop!", 0) == 0) {
            const auto other = queue.pop(1, [&](const std::string & tenant) { return tenant != word.substr(4); });
            std::printf("%s%s", space, other.value_or("-").c_str());
            space = " ";
        } else if (word.rfind("pop", 0) == 0) {
            std::printf("%s%s", space, queue.empty() ? "-" : queue.pop(behind == word ? 1 : std::atof(behind.c_str())).c_str());
            space = " ";
        } else if (word.rfind("run=", 0) == 0) {
            change_running(queue, behind, 1);
        } else if (word.rfind("end=", 0) == 0) {
            change_running(queue, behind, -1);
        } else if (word.rfind("drop=", 0) == 0) {
            queue.remove_if(behind, [](const std::string &) { return true; });
        } else if (word.back() == '-') {
            queue.remove(tickets.at(word.substr(0, word.size() - 1)));
        } else {
            push(queue, tickets, word);
        }
    }
    std::printf("\n");
    return 0;
}

// The same rules, by looking through everything.
struct PlainQueue {
    struct Waiting {
        std::string tenant;
        int priority;
        int arrival;
    };
    struct Tenant {
        double served = 0;
        int n_running = 0;
    };
    std::vector<Waiting> waiting;
    std::map<std::string, Tenant> tenants;
    double now = 0;

    bool waits(const std::string & tenant) const {
        return std::any_of(waiting.begin(), waiting.end(), [&](const Waiting & one) { return one.tenant == tenant; });
    }
    void push(const std::string & tenant, int priority, int arrival) {
        auto & mine = tenants[tenant];
        if (!waits(tenant)) mine.served = std::max(mine.served, now);
        waiting.push_back({tenant, priority, arrival});
    }
    int pop(double cost) {
        const auto next = std::min_element(waiting.begin(), waiting.end(), [this](const Waiting & a, const Waiting & b) {
            const auto key = [this](const Waiting & one) {
                const auto & tenant = tenants.at(one.tenant);
                return std::tuple(-one.priority, tenant.n_running > 0, tenant.served, one.arrival);
            };
            // Within a tenant, priority and then arrival; between tenants by what each would send first.
            return key(a) < key(b);
        });
        auto & tenant = tenants.at(next->tenant);
        now = std::max(now, tenant.served);
        tenant.served += cost;
        const int arrival = next->arrival;
        waiting.erase(next);
        return arrival;
    }
};

int check_random(uint32_t seed, int n) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t limit) { return random() % limit; };
    Queue queue;
    PlainQueue plain;
    std::map<int, Queue::Ticket> tickets;
    for (int i = 0; i < n; i++) {
        const std::string tenant(1, static_cast<char>('a' + below(6)));
        const auto what = below(10);
        if (what < 5) {
            const int priority = below(8) == 0 ? 1 : 0;
            tickets[i] = queue.push(tenant, priority, std::to_string(i));
            plain.push(tenant, priority, i);
        } else if (what < 8) {
            if (plain.waiting.empty() != queue.empty()) return 1;
            if (queue.empty()) continue;
            const double cost = below(100);
            const int got = std::atoi(queue.pop(cost).c_str());
            const int expected = plain.pop(cost);
            tickets.erase(got);
            if (got == expected) continue;
            std::printf("operation %d: %d instead of %d\n", i, got, expected);
            return 1;
        } else if (what == 8 && !tickets.empty()) {
            const auto one =
                std::next(tickets.begin(), static_cast<std::ptrdiff_t>(below(static_cast<uint32_t>(tickets.size()))));
            if (queue.remove(one->second) != std::to_string(one->first)) return 1;
            const auto is_it = [&](const PlainQueue::Waiting & held) { return held.arrival == one->first; };
            plain.waiting.erase(std::find_if(plain.waiting.begin(), plain.waiting.end(), is_it));
            tickets.erase(one);
        } else {
            auto & running = plain.tenants[tenant].n_running;
            const int by = running > 0 && below(2) == 0 ? -1 : 1;
            running += by;
            change_running(queue, tenant, by);
        }
    }
    std::printf("operations %d\n", n);
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "order") return show_order(argc - 2, argv + 2);
    if (mode == "random" && argc == 4) return check_random(static_cast<uint32_t>(std::atoi(argv[2])), std::atoi(argv[3]));
    std::fprintf(stderr, "the modes stand at the head of fair_queue_test.cpp\n");
    return 2;
}
