// Ids of 32 bits, which come round again in a process that lives for long: 0 stands for none, and an id that is still in use is
// passed over.
#pragma once

#include <cstdint>

namespace svc {

class IdSource {
  public:
    explicit IdSource(uint32_t first = 1) : next_(first) {}

    // There must be an id that is not in use.
    template <typename IsUsed> uint32_t next(IsUsed && is_used) {
        while (next_ == 0 || is_used(next_)) next_++;
        return next_++;
    }

  private:
    uint32_t next_;
};

}  // namespace svc
