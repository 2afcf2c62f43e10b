// States of sequences that gave way: in host memory first, then on disk, least recently used ones leaving. Belongs to the engine
// thread.
//
// Tenants share the room evenly: what leaves is of the tenant that has most, so a tenant with no more than its even share loses
// nothing to others, whatever they save.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../common/estimate.h"
#include "kv_disk.h"
#include "kv_transfer.h"
#include "prefix_tree.h"

namespace svc {

class KvOffload {
  public:
    using Id = PrefixTree::Owner;
    using Tokens = std::vector<llama_token>;

    struct Options {
        uint64_t memory_bytes = 0;
        uint64_t disk_bytes = 0;  // 0: no disk
        std::string folder;
        uint32_t n_window = 0;  // attention window of some layers, 0 for none
    };

    struct Match {
        Id id = 0;  // 0: none
        size_t n_common = 0;
        size_t n_tokens = 0;
        size_t bytes = 0;
        bool in_memory = false;
    };

    // `wake` is called from another thread when poll() has something to do.
    KvOffload(Options options, std::function<void()> wake);
    ~KvOffload();

    // What has most in common with `tokens`.
    Match find(const std::string & key, const Tokens & tokens, size_t most) const;
    // Whether a state holds all of these tokens.
    bool holds(const std::string & key, const Tokens & tokens) const;

    // Larger states are not kept.
    uint64_t most_bytes() const { return options_.memory_bytes; }
    void put(const std::string & key, const Tokens & tokens, std::shared_ptr<const KvState> state);

    // Null when the state is gone or still on disk.
    std::shared_ptr<const KvState> get(Id id);
    // Reads a state from disk; poll() says when it has come. False when it is neither there nor on its way.
    bool fetch(Id id);
    // Why nothing is written to the disk any longer; said once, empty otherwise.
    std::string take_io_error() { return std::exchange(io_error_, {}); }

    const Tokens & tokens(Id id) const { return entries_.at(id).tokens; }
    bool is_fetching(Id id) const;
    // A state that turned out to be useless.
    void drop(Id id);

    // Takes in what the disk has done.
    void poll();

    uint64_t memory_bytes() const { return memory_bytes_; }
    uint64_t disk_bytes() const { return disk_bytes_; }
    // Measured; 0 before the first.
    double read_bytes_per_ms() const { return read_bytes_per_ms_.value(); }

  private:
    // Of one tenant.
    struct Use {
        uint64_t memory_bytes = 0;
        uint64_t disk_bytes = 0;
        size_t n_entries = 0;
    };

    struct Entry {
        std::string tenant;
        Tokens tokens;
        size_t bytes = 0;
        std::shared_ptr<const KvState> state;  // null: on disk alone
        bool on_disk = false;
        bool writing = false;
        bool reading = false;
        std::list<Id>::iterator recency;
    };

    void touch(Entry & entry, Id id);
    void supersede(const std::string & key, const Tokens & tokens);
    bool make_memory(const std::string & tenant, size_t bytes);
    bool free_memory_of(const std::string & tenant);
    bool make_disk(Id id);
    bool free_disk_of(const std::string & tenant, Id id);
    const std::string & largest(uint64_t Use::*bytes, const std::string & tenant, size_t more) const;
    void count_memory(const Entry & entry, bool is_more);
    void count_disk(const Entry & entry, bool is_more);
    bool write_next();
    void write_behind();

    Options options_;
    std::unique_ptr<KvDisk> disk_;
    std::string io_error_;
    PrefixTree tree_;
    std::unordered_map<Id, Entry> entries_;
    std::unordered_map<std::string, Use> tenants_;  // those with entries
    std::list<Id> recency_;                         // least recently used first
    Id next_id_ = 1;
    bool writing_ = false;
    bool all_written_ = true;  // or there is no room for what is not
    uint64_t memory_bytes_ = 0;
    uint64_t disk_bytes_ = 0;
    Estimate read_bytes_per_ms_;
};

}  // namespace svc
