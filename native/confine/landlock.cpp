#include "landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "failure.h"
#include "interpreter.h"

namespace svc {

namespace {

// Numbers and layouts of linux/landlock.h, which the headers of older systems lack or have in part. The numbers are the same on
// all architectures.
constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr uint32_t want_version = 1;
constexpr int rule_path_beneath = 1;

constexpr uint64_t execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2, read_dir = 1 << 3, remove_dir = 1 << 4,
                   remove_file = 1 << 5, make_dir = 1 << 7, make_file = 1 << 8, refer = 1 << 13, truncate_file = 1 << 14,
                   ioctl_device = 1 << 15;

// Neither programs nor links nor devices: what is written there stays data.
constexpr uint64_t change =
    write_file | read_file | read_dir | remove_dir | remove_file | make_dir | make_file | refer | truncate_file;

struct RulesetAttributes {
    uint64_t handled_files;
    uint64_t handled_network;  // from version 4 on
    uint64_t scoped;           // from version 6 on
};

struct __attribute__((packed)) PathBeneath {
    uint64_t allowed;
    int32_t parent;
};

// What any program reads: its libraries, and what libc, V8 and ggml ask about the machine. /proc/self is this process's own
// folder: the program that it becomes keeps its id.
const char * const system_paths[] = {"/lib",
                                     "/lib64",
                                     "/usr/lib",
                                     "/usr/lib64",
                                     "/usr/local/lib",
                                     "/etc/ld.so.cache",
                                     "/etc/ld.so.preload",
                                     "/etc/localtime",
                                     "/usr/share/zoneinfo",
                                     "/etc/ssl/openssl.cnf",
                                     "/proc/self",
                                     "/proc/cpuinfo",
                                     "/proc/meminfo",
                                     "/proc/sys/vm",
                                     "/proc/version_signature",
                                     "/sys/devices/system",
                                     "/sys/fs/cgroup",
                                     "/dev/null",
                                     "/dev/urandom"};

// A driver finds its cards here.
const char * const driver_paths[] = {"/proc/driver", "/proc/devices", "/proc/modules",
                                     "/sys/bus/pci", "/sys/devices",  "/sys/module"};

// How names of other machines are found, and whose certificates are believed.
const char * const network_paths[] = {"/etc/resolv.conf", "/etc/hosts",     "/etc/nsswitch.conf",        "/etc/host.conf",
                                      "/etc/gai.conf",    "/etc/services",  "/run/systemd/resolve",      "/etc/ssl",
                                      "/etc/pki",         "/etc/protocols", "/usr/share/ca-certificates"};

class FileDescriptor {
  public:
    explicit FileDescriptor(int value) : value_(value) {}
    ~FileDescriptor() {
        if (value_ >= 0) close(value_);
    }
    FileDescriptor(const FileDescriptor &) = delete;
    FileDescriptor & operator=(const FileDescriptor &) = delete;
    int get() const { return value_; }

  private:
    int value_;
};

// All rights of a version are handled, so that every one that is not granted is refused.
RulesetAttributes attributes_of(int version, const Options & options) {
    constexpr uint64_t bind_tcp = 1 << 0, connect_tcp = 1 << 1;
    const uint64_t network = options.has_network ? 0 : options.may_listen ? connect_tcp : bind_tcp | connect_tcp;
    const int n_rights = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    return {(uint64_t{1} << n_rights) - 1, version >= 4 ? network : 0, version >= 6 ? uint64_t{3} : 0};
}

size_t size_of_attributes(int version) {
    return version >= 6 ? sizeof(RulesetAttributes) : sizeof(uint64_t) * (version >= 4 ? 2 : 1);
}

class Ruleset {
  public:
    Ruleset(int version, const Options & options)
        : attributes_(attributes_of(version, options)),
          file_(static_cast<int>(syscall(create_ruleset, &attributes_, size_of_attributes(version), 0))) {
        if (file_.get() < 0) throw system_failure("cannot make a Landlock ruleset");
    }

    // A path that is not there cannot be opened later either.
    void allow(const std::string & path, uint64_t rights) const {
        const FileDescriptor target(open(path.c_str(), O_PATH | O_CLOEXEC));
        if (target.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return;
        struct stat info {};
        if (target.get() < 0 || fstat(target.get(), &info) != 0) throw system_failure("cannot open " + path);
        if (!S_ISDIR(info.st_mode)) rights &= ~read_dir;
        const PathBeneath rule{rights & attributes_.handled_files, target.get()};
        if (syscall(add_rule, file_.get(), rule_path_beneath, &rule, 0) != 0) throw system_failure("cannot allow " + path);
    }

    void enforce() const {
        if (syscall(restrict_self, file_.get(), 0) != 0) throw system_failure("cannot enforce the Landlock rules");
    }

  private:
    RulesetAttributes attributes_;
    FileDescriptor file_;
};

}  // namespace

int landlock_version() {
    const auto version = syscall(create_ruleset, nullptr, 0, want_version);
    return version < 0 ? 0 : static_cast<int>(version);
}

void restrict_files(const Options & options) {
    const int version = landlock_version();
    if (version == 0) {
        // Whatever the program writes would go anywhere.
        if (!options.writable.empty()) throw Failure("a writable folder needs Landlock, which this kernel lacks");
        return;
    }
    const Ruleset ruleset(version, options);
    const auto & program = options.command.front();
    ruleset.allow(program, read_file | execute);
    const auto interpreter = interpreter_of(program);
    if (!interpreter.empty()) ruleset.allow(interpreter, read_file | execute);
    for (const auto * path : system_paths) ruleset.allow(path, read_file | read_dir);
    for (const auto & path : options.readable) ruleset.allow(path, read_file | read_dir);
    for (const auto & path : options.writable) ruleset.allow(path, change);
    if (options.has_network)
        for (const auto * path : network_paths) ruleset.allow(path, read_file | read_dir);
    for (const auto & path : options.devices) ruleset.allow(path, read_file | write_file | ioctl_device);
    if (!options.devices.empty())
        for (const auto * path : driver_paths) ruleset.allow(path, read_file | read_dir);
    ruleset.enforce();
}

}  // namespace svc
