#include "mapped_file_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace svc {

#ifdef __linux__

namespace {

// A line of /proc/self/maps, as far as it matters. File systems tell other numbers by stat() than here.
struct Mapping {
    uint64_t begin = 0, end = 0, device = 0, inode = 0;
};

struct Slot {
    std::atomic<uint64_t> device{0};
    std::atomic<uint64_t> inode{0};  // 0: the slot is free
};

constexpr size_t kSlots = 1024;
std::array<Slot, kSlots> slots;
std::mutex slots_mutex;
struct sigaction previous;

// Everything from here to on_bus_error() runs in a signal handler: it takes no memory and no lock.

// Reads a file byte by byte, a piece at a time.
class Bytes {
  public:
    explicit Bytes(int fd) : fd_(fd) {}
    // -1 at the end.
    int next() {
        if (at_ == size_) {
            size_ = read(fd_, buffer_, sizeof buffer_);
            at_ = 0;
            if (size_ <= 0) return last_ = -1;
        }
        return last_ = static_cast<unsigned char>(buffer_[at_++]);
    }
    // The byte that was read last may have ended the line already.
    void skip_line() {
        while (last_ >= 0 && last_ != '\n') next();
    }

  private:
    int fd_;
    char buffer_[1024];
    ssize_t at_ = 0, size_ = 0;
    int last_ = 0;
};

int digit_of(int c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The number up to the next byte that is no digit, which is read as well.
uint64_t number(Bytes & bytes, uint64_t base) {
    uint64_t value = 0;
    for (int digit = digit_of(bytes.next()); digit >= 0; digit = digit_of(bytes.next()))
        value = value * base + static_cast<uint64_t>(digit);
    return value;
}

// Source: proc_pid_maps(5): begin-end perms offset major:minor inode path
bool next_mapping(Bytes & bytes, Mapping & to) {
    to.begin = number(bytes, 16);
    to.end = number(bytes, 16);
    for (int c = bytes.next(); c != ' '; c = bytes.next())
        if (c < 0) return false;
    number(bytes, 16);
    to.device = number(bytes, 16) << 32;
    to.device |= number(bytes, 16);
    to.inode = number(bytes, 10);
    return true;
}

bool find_mapping(uint64_t address, Mapping & found) {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    Bytes bytes(fd);
    bool is_found = false;
    while (!is_found && next_mapping(bytes, found)) {
        is_found = address >= found.begin && address < found.end;
        bytes.skip_line();
    }
    close(fd);
    return is_found;
}

bool is_guarded(const Mapping & mapping) {
    for (const auto & slot : slots)
        if (mapping.inode != 0 && slot.inode == mapping.inode && slot.device == mapping.device) return true;
    return false;
}

// All that follows in the mapping lies behind the end of the file as well.
bool replace_by_zeros(uint64_t address) {
    Mapping mapping;
    if (!find_mapping(address, mapping)) return false;
    // Another thread has put zeros here meanwhile: memory without a file has no end to be behind.
    if (mapping.inode == 0) return true;
    if (!is_guarded(mapping)) return false;
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = address - address % page;
    return mmap(reinterpret_cast<void *>(begin), mapping.end - begin, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

void on_bus_error(int signal, siginfo_t * info, void * context) {
    const int error = errno;
    const bool is_mended = info->si_code == BUS_ADRERR && replace_by_zeros(reinterpret_cast<uint64_t>(info->si_addr));
    errno = error;
    if (is_mended) return;
    if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
    // The instruction is tried again and ends the process; what another process sent is sent again.
    sigaction(SIGBUS, &previous, nullptr);
    if (info->si_code <= 0) raise(signal);
}

void install() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action {};
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(SIGBUS, &action, &previous);
    });
}

// What /proc/self/maps calls the file.
bool identify(const std::string & path, Mapping & found) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void * mapped = mmap(nullptr, page, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) return false;
    const bool is_found = find_mapping(reinterpret_cast<uint64_t>(mapped), found);
    munmap(mapped, page);
    return is_found;
}

}  // namespace

MappedFileGuard::MappedFileGuard(const std::string & path) {
    Mapping file;
    if (!identify(path, file)) return;
    install();
    std::lock_guard lock(slots_mutex);
    for (size_t i = 0; i < kSlots; i++) {
        if (slots[i].inode != 0) continue;
        slots[i].device = file.device;
        slots[i].inode = file.inode;
        slot_ = static_cast<int>(i);
        return;
    }
}

MappedFileGuard::~MappedFileGuard() {
    if (slot_ < 0) return;
    std::lock_guard lock(slots_mutex);
    slots[static_cast<size_t>(slot_)].inode = 0;
}

#else

MappedFileGuard::MappedFileGuard(const std::string &) {}
MappedFileGuard::~MappedFileGuard() = default;

#endif

std::vector<std::string> MappedFileGuard::parts_of(const std::string & path) {
    constexpr size_t kSuffix = sizeof("-00001-of-00002.gguf") - 1;
    int first = 0;
    int count = 0;
    const auto at = path.size() < kSuffix ? path.size() : path.size() - kSuffix;
    if (std::sscanf(path.c_str() + at, "-%5d-of-%5d.gguf", &first, &count) != 2 || count < 1) return {path};
    std::vector<std::string> parts;
    for (int i = 1; i <= count && i <= 9999; i++) {
        char suffix[32];
        std::snprintf(suffix, sizeof suffix, "-%05d-of-%05d.gguf", i, count);
        parts.push_back(path.substr(0, at) + suffix);
    }
    return parts;
}

}  // namespace svc
