#include "cell_references.h"

#include "../../common/memory_wait.h"

#include <algorithm>

namespace svc {

void CellReferences::take(llama_seq_id id, size_t count) {
    const MemoryWait wait;
    auto & cells = of(id);
    for (size_t i = 0; i < count; i++) {
        if (spare_.empty()) {
            cells.push_back(static_cast<uint32_t>(n_holders_.size()));
            n_holders_.push_back(1);
        } else {
            cells.push_back(spare_.back());
            spare_.pop_back();
            n_holders_[cells.back()] = 1;
        }
    }
    n_used_ += static_cast<uint32_t>(count);
}

void CellReferences::share(llama_seq_id from, llama_seq_id to, size_t count) {
    const MemoryWait wait;
    const auto & source = of(from);
    auto & target = of(to);
    target.assign(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(count));
    for (auto cell : target) n_holders_[cell]++;
}

void CellReferences::drop(llama_seq_id id, size_t n_keep) {
    const MemoryWait wait;
    auto & cells = of(id);
    for (size_t i = n_keep; i < cells.size(); i++) {
        if (--n_holders_[cells[i]] > 0) continue;
        spare_.push_back(cells[i]);
        n_used_--;
    }
    cells.resize(std::min(n_keep, cells.size()));
}

uint32_t CellReferences::n_held(const std::vector<llama_seq_id> & ids) const {
    std::vector<bool> seen(n_holders_.size());
    uint32_t n = 0;
    for (auto id : ids) {
        for (auto cell : held_[static_cast<size_t>(id)]) {
            n += !seen[cell];
            seen[cell] = true;
        }
    }
    return n;
}

}  // namespace svc
