// What waits, and whose turn it is: priority first, then tenants that run nothing, then the tenant that was served least
// (tenant_shares.h), then arrival. Jobs wait in it to be prepared and to run, texts to be embedded.
//
// Every call is O(log n), but for remove_if(). One thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tenant_shares.h"

namespace svc {

template <typename Item> class FairQueue {
    struct Line;
    struct Place {
        int32_t priority;
        uint64_t arrival;
        bool operator<(const Place & other) const {
            return priority != other.priority ? priority > other.priority : arrival < other.arrival;
        }
    };

  public:
    // Where an item stands, until it is taken out.
    class Ticket {
        friend class FairQueue;
        Line * line = nullptr;
        Place place{};
    };

    Ticket push(const std::string & tenant, int32_t priority, Item item) {
        const auto [found, is_new] = lines_.try_emplace(tenant);
        auto & line = found->second;
        Ticket ticket;
        ticket.line = &line;
        ticket.place = {priority, n_arrived_};
        try {
            if (is_new) {
                line.name = &found->first;
                line.share = &shares_.of(tenant);
            }
            line.items.emplace(ticket.place, std::move(item));
            if (is_new) line.turn = turns_.insert({0, false, 0, n_arrived_, &line}).first;
        } catch (...) {
            if (is_new) lines_.erase(found);
            throw;
        }
        n_arrived_++;
        n_items_++;
        change(line, [&] { shares_.begin_waiting(*line.share); });
        return ticket;
    }

    bool empty() const { return n_items_ == 0; }
    // An empty queue has no front.
    Item & front() { return turns_.begin()->line->items.begin()->second; }
    // The first of which `is_ready` is true, or null. It is asked about one item of each tenant at most.
    template <typename Test> Item * front(Test && is_ready) {
        for (const auto & turn : turns_) {
            auto & item = turn.line->items.begin()->second;
            if (is_ready(item)) return &item;
        }
        return nullptr;
    }

    // Takes the first item out, which its tenant is served at this cost. Not for an empty queue.
    Item pop(double cost) {
        auto & line = *turns_.begin()->line;
        change(line, [&] { shares_.serve(*line.share, cost); });
        return take(line, line.items.begin());
    }

    // The same for the first one whose tenant `may_go`; none where there is no such tenant.
    template <typename Test> std::optional<Item> pop(double cost, Test && may_go) {
        for (const auto & turn : turns_) {
            if (!may_go(*turn.line->name)) continue;
            auto & line = *turn.line;
            change(line, [&] { shares_.serve(*line.share, cost); });
            return take(line, line.items.begin());
        }
        return std::nullopt;
    }

    Item remove(const Ticket & ticket) { return take(*ticket.line, ticket.line->items.find(ticket.place)); }

    // Takes out those of a tenant's items of which `is_meant` is true.
    template <typename Test> void remove_if(const std::string & tenant, Test && is_meant) {
        const auto found = lines_.find(tenant);
        if (found == lines_.end()) return;
        auto & line = found->second;
        for (auto it = line.items.begin(); it != line.items.end();) {
            const auto item = it++;
            if (!is_meant(item->second)) continue;
            const bool is_last = line.items.size() == 1;
            take(line, item);
            if (is_last) return;
        }
    }

    // Changes what is held against a tenant, by which its turn goes.
    template <typename Change> void change_share(const std::string & tenant, Change && change_it) {
        auto & share = shares_.of(tenant);
        const auto found = lines_.find(tenant);
        if (found == lines_.end()) change_it(shares_, share);
        else change(found->second, [&] { change_it(shares_, share); });
    }

    // Whether an item of `tenant` would come before one of `other` with the same priority.
    bool is_behind(const std::string & tenant, const std::string & other) const {
        const auto standing = [this](const std::string & name) {
            const auto * share = shares_.find(name);
            return share ? std::tuple(share->n_running > 0, share->served) : std::tuple(false, shares_.now());
        };
        return standing(tenant) < standing(other);
    }

  private:
    // One for each tenant that waits.
    struct Turn {
        int32_t priority;
        bool runs;
        double served;
        uint64_t arrival;
        Line * line;
        bool operator<(const Turn & other) const {
            return std::tuple(-priority, runs, served, arrival) <
                   std::tuple(-other.priority, other.runs, other.served, other.arrival);
        }
    };
    using Turns = std::set<Turn>;
    using Items = std::map<Place, Item>;
    struct Line {
        const std::string * name;
        TenantShares::Share * share;
        Items items;
        typename Turns::iterator turn;
    };

    // The line's turn follows what the change makes of it. Needs no memory.
    template <typename Change> void change(Line & line, Change && change_it) {
        auto node = turns_.extract(line.turn);
        change_it();
        const auto & place = line.items.begin()->first;
        node.value() = {place.priority, line.share->n_running > 0, line.share->served, place.arrival, &line};
        line.turn = turns_.insert(std::move(node)).position;
    }

    Item take(Line & line, typename Items::iterator it) {
        Item item = std::move(it->second);
        n_items_--;
        shares_.end_waiting(*line.share);
        if (line.items.size() > 1) {
            change(line, [&] { line.items.erase(it); });
        } else {
            turns_.erase(line.turn);
            lines_.erase(lines_.find(*line.name));
        }
        return item;
    }

    TenantShares shares_;
    std::unordered_map<std::string, Line> lines_;  // of tenants that wait
    Turns turns_;
    size_t n_items_ = 0;
    uint64_t n_arrived_ = 0;
};

}  // namespace svc
