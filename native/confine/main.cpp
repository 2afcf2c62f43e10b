// Runs a program confined: no other process, only the named files to read, and unless an option says so, no network and nothing
// to write.
//
// svc_confine --probe                        prints what this kernel offers: landlock=VERSION seccomp=0|1
// svc_confine OPTION... -- PROGRAM ARGUMENT...    see options.h
//
// It becomes the program, which keeps its process id, environment (without preloads), working folder and first three file
// descriptors. When something cannot be set up, it prints why and ends with status 125 before the program runs. A kernel without
// Landlock or without seccomp filters does without the one that it lacks.
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "failure.h"
#include "landlock.h"
#include "options.h"
#include "privileges.h"
#include "refused_calls.h"
#include "resource_limits.h"

namespace svc {

namespace {

constexpr int failed = 125;

// The path at a random place of the address space, which only this process's own memory and the filter know (see refuse_calls).
const char * hide(const std::string & path) {
    constexpr uintptr_t page = 4096, lowest = uintptr_t{1} << 32, range = uintptr_t{1} << 45;
    uintptr_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random) throw system_failure("cannot get random bytes");
    const size_t size = path.size() + 1 + page;
    auto * hint = reinterpret_cast<void *>(lowest + random[0] % range / page * page);
    auto * memory = static_cast<char *>(mmap(hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) throw system_failure("cannot map memory");
    return std::strcpy(memory + random[1] % page, path.c_str());
}

// Descriptors that the parent did not mean to pass on.
void close_others() {
    if (syscall(SYS_close_range, 3U, ~0U, 0) == 0) return;
    for (int file = 3, end = static_cast<int>(sysconf(_SC_OPEN_MAX)); file < end; file++) close(file);
}

// These load code from files that the program will not be able to read. A test runner or a tracer sets them for all that it
// starts.
void forget_preloads() {
    for (const auto * name : {"NODE_OPTIONS", "LD_PRELOAD", "LD_AUDIT"}) unsetenv(name);
}

void run(const Options & options, char ** arguments) {
    const auto * program = hide(options.command.front());
    close_others();
    forget_preloads();
    limit_resources(options);
    drop_privileges();
    restrict_files(options);
    refuse_calls(program, options);
    syscall(SYS_execve, program, arguments, environ);
    throw system_failure("cannot run " + options.command.front());
}

void probe() { std::printf("landlock=%d seccomp=%d\n", landlock_version(), has_call_filters() ? 1 : 0); }

}  // namespace

}  // namespace svc

int main(int argc, char ** argv) {
    try {
        const std::vector<std::string> arguments(argv + 1, argv + argc);
        if (arguments.size() == 1 && arguments[0] == "--probe") {
            svc::probe();
            return 0;
        }
        const auto options = svc::parse_options(arguments);
        svc::run(options, argv + argc - options.command.size());
    } catch (const std::exception & error) {
        std::fprintf(stderr, "svc_confine: %s\n", error.what());
    }
    return svc::failed;
}
