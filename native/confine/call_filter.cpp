#include "call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>

#include "failure.h"

namespace svc {

namespace {

#if defined(__x86_64__)
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "the system call filter is written for x86_64 and aarch64"
#endif

sock_filter load(size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }

// Both architectures are little-endian: the lower half comes first.
sock_filter load_argument(unsigned argument) { return load(offsetof(seccomp_data, args) + 8 * argument); }
sock_filter load_upper_half(unsigned argument) { return load(offsetof(seccomp_data, args) + 8 * argument + 4); }

sock_filter answer(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
sock_filter allow() { return answer(SECCOMP_RET_ALLOW); }
sock_filter fail(int error) { return answer(SECCOMP_RET_ERRNO | (static_cast<uint32_t>(error) & SECCOMP_RET_DATA)); }

// Skips as many instructions as the two counts say.
sock_filter jump_equal(uint32_t value, uint8_t if_true, uint8_t if_false) {
    return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, if_true, if_false);
}
sock_filter jump_bits(uint32_t bits, uint8_t if_true, uint8_t if_false) {
    return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, if_true, if_false);
}

}  // namespace

CallFilter::CallFilter(uint32_t max_call) {
    program_ = {load(offsetof(seccomp_data, arch)),
                jump_equal(architecture, 1, 0),
                answer(SECCOMP_RET_KILL_PROCESS),
                load(offsetof(seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, max_call, 0, 1),
                fail(ENOSYS)};
}

void CallFilter::begin_rule(uint32_t call, std::vector<sock_filter> body) {
    program_.push_back(jump_equal(call, 0, static_cast<uint8_t>(body.size())));
    program_.insert(program_.end(), body.begin(), body.end());
}

void CallFilter::refuse(uint32_t call, int error) { begin_rule(call, {fail(error)}); }

void CallFilter::refuse_with_bits(uint32_t call, unsigned argument, uint32_t bits, int error) {
    begin_rule(call, {load_argument(argument), jump_bits(bits, 0, 1), fail(error), allow()});
}

void CallFilter::refuse_without_bits(uint32_t call, unsigned argument, uint32_t bits, int error) {
    begin_rule(call, {load_argument(argument), jump_bits(bits, 1, 0), fail(error), allow()});
}

void CallFilter::refuse_value(uint32_t call, unsigned argument, uint32_t value, int error) {
    begin_rule(call, {load_argument(argument), jump_equal(value, 0, 1), fail(error), allow()});
}

void CallFilter::allow_values(uint32_t call, unsigned argument, const std::vector<uint32_t> & values, int error) {
    std::vector<sock_filter> body{load_argument(argument)};
    for (const auto value : values) {
        body.push_back(jump_equal(value, 0, 1));
        body.push_back(allow());
    }
    body.push_back(fail(error));
    begin_rule(call, body);
}

void CallFilter::allow_or_kill(uint32_t call, unsigned argument, uint64_t value) {
    begin_rule(call, {load_argument(argument), jump_equal(static_cast<uint32_t>(value), 0, 3), load_upper_half(argument),
                      jump_equal(static_cast<uint32_t>(value >> 32), 0, 1), allow(), answer(SECCOMP_RET_KILL_PROCESS)});
}

bool CallFilter::install() {
    auto program = program_;
    program.push_back(allow());
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0) return true;
    // EINVAL: the kernel was built without filters.
    if (errno == EINVAL) return false;
    throw system_failure("cannot install the system call filter");
}

}  // namespace svc
