#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace svc {

// Writes a seccomp program rule by rule. Each rule ends its calls, so that their order does not matter; what no rule names is
// allowed.
class CallFilter {
  public:
    // Ends the process at once for calls of another architecture; fails those numbered above `max_call`, which the rules do not
    // know.
    explicit CallFilter(uint32_t max_call);

    void refuse(uint32_t call, int error);
    // Refuses the call when any of `bits` is set in the argument's lower half.
    void refuse_with_bits(uint32_t call, unsigned argument, uint32_t bits, int error);
    void refuse_without_bits(uint32_t call, unsigned argument, uint32_t bits, int error);
    void refuse_value(uint32_t call, unsigned argument, uint32_t value, int error);
    // Allows the call only with one of the values in the argument's lower half.
    void allow_values(uint32_t call, unsigned argument, const std::vector<uint32_t> & values, int error);
    // Allows the call only with exactly this argument, and otherwise ends the process.
    void allow_or_kill(uint32_t call, unsigned argument, uint64_t value);

    // Takes effect for this thread and all that comes of it. False where the kernel has no seccomp filters. Throws Failure.
    bool install();

  private:
    void begin_rule(uint32_t call, std::vector<sock_filter> body);

    std::vector<sock_filter> program_;
};

}  // namespace svc
