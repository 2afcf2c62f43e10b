// States of sequences that gave way: in host memory first, then on disk, least recently used ones leaving. Belongs to the engine
// thread.
//
// Tenants share the room evenly: what leaves is of the tenant that has most, so a tenant with no more than its even share loses
// nothing to others, whatever they save. Memory also holds the index: the tokens of each state, wherever its cells lie.
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
#include "../../common/id_source.h"
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

    // The index counts too.
    uint64_t memory_bytes() const { return memory_bytes_ + index_bytes_; }
    uint64_t disk_bytes() const { return disk_bytes_; }
    // Measured; 0 before the first.
    double read_bytes_per_ms() const { return read_bytes_per_ms_.value(); }

  private:
    using Ids = std::list<Id>;

    struct Entry {
        std::string tenant;
        Tokens tokens;
        uint64_t bytes = 0;                    // of the state
        uint64_t index_bytes = 0;              // of what stays in memory while it is on disk
        std::shared_ptr<const KvState> state;  // null: on disk alone
        bool on_disk = false;
        bool writing = false;
        bool reading = false;
        uint64_t used = 0;    // moment of the last use
        Ids::iterator place;  // in the list of its tenant where it belongs
    };

    // Those with entries. In each list the least recently used is first.
    struct Tenant {
        uint64_t memory_bytes = 0;  // without the index
        uint64_t disk_bytes = 0;
        uint64_t index_bytes = 0;
        Ids fresh;   // in memory alone
        Ids copied;  // there and on disk
        Ids stored;  // on disk alone

        bool is_empty() const { return fresh.empty() && copied.empty() && stored.empty(); }
    };

    static Ids & list_of(Tenant & tenant, const Entry & entry);
    void count(const Entry & entry, bool is_more);
    template <class Change> void update(Id id, Change change);
    void touch(Id id);
    void supersede(const std::string & key, const Tokens & tokens);
    bool make_index(const std::string & tenant, uint64_t bytes);
    bool make_memory(const std::string & tenant, uint64_t bytes);
    bool make_disk(Id id);
    bool drop_oldest(const Ids & list);
    bool free_index_of(const std::string & tenant);
    bool free_memory_of(const std::string & tenant);
    bool free_disk_of(const std::string & tenant, Id id);
    const std::string & largest(uint64_t Tenant::*bytes, const std::string & tenant, uint64_t more) const;
    bool write_next();
    void write_behind();

    Options options_;
    std::unique_ptr<KvDisk> disk_;
    std::string io_error_;
    PrefixTree tree_;
    std::unordered_map<Id, Entry> entries_;
    std::unordered_map<std::string, Tenant> tenants_;
    IdSource ids_;
    uint64_t now_ = 0;  // counts uses
    bool writing_ = false;
    bool all_written_ = true;  // or there is no room for what is not
    uint64_t memory_bytes_ = 0;
    uint64_t disk_bytes_ = 0;
    uint64_t index_bytes_ = 0;
    Estimate read_bytes_per_ms_;
};

}  // namespace svc
