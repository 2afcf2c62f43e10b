#include "resource_limits.h"

#include <sys/resource.h>

#include <algorithm>

#include "failure.h"

namespace svc {

namespace {

constexpr rlim_t mib = 1024 * 1024;
constexpr rlim_t max_open_files = 256;

// A limit that is lower already stays: raising a hard one needs a privilege.
void limit(int resource, const char * name, rlim_t wanted) {
    rlimit present{};
    if (getrlimit(resource, &present) != 0) throw system_failure(std::string("cannot read ") + name);
    const auto value = std::min(wanted, present.rlim_max);
    const rlimit limits{value, value};
    if (setrlimit(resource, &limits) != 0) throw system_failure(std::string("cannot set ") + name);
}

}  // namespace

// RLIMIT_NPROC is missing on purpose: it counts all threads of the user, the server's own among them. The system call filter
// refuses new processes instead.
void limit_resources(const Options & options) {
    // The private memory that is mapped writable. V8 reserves much more address space than it uses, so RLIMIT_AS cannot be as
    // low; it bounds what RLIMIT_DATA leaves out, shared mappings above all.
    limit(RLIMIT_DATA, "RLIMIT_DATA", options.memory_mib * mib);
    if (options.address_space_mib > 0) limit(RLIMIT_AS, "RLIMIT_AS", options.address_space_mib * mib);
    limit(RLIMIT_CPU, "RLIMIT_CPU", options.cpu_seconds);
    limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", max_open_files);
    limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", options.file_mib * mib);
    limit(RLIMIT_CORE, "RLIMIT_CORE", 0);
    limit(RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 0);
    limit(RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", 0);
}

}  // namespace svc
