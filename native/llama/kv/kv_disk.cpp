#include "kv_disk.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/status.h"

namespace svc {

namespace {

constexpr uint64_t kMagic = 0x31564b2d637673ULL;  // "svc-KV1"

struct Header {
    uint64_t magic;
    uint64_t n_meta;
    uint64_t n_data;
    uint64_t checksum;  // of meta, then data
};

class File {
  public:
    File(const std::string & path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File &) = delete;
    File & operator=(const File &) = delete;

    bool write(const void * from, size_t size) {
        const auto * bytes = static_cast<const uint8_t *>(from);
        while (size > 0) {
            const ssize_t n = ::write(descriptor_, bytes, size);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            bytes += n;
            size -= static_cast<size_t>(n);
        }
        return true;
    }

    bool read(void * to, size_t size) {
        auto * bytes = static_cast<uint8_t *>(to);
        while (size > 0) {
            const ssize_t n = ::read(descriptor_, bytes, size);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            bytes += n;
            size -= static_cast<size_t>(n);
        }
        return true;
    }

    uint64_t size() const {
        struct stat status {};
        return fstat(descriptor_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
    }
    bool is_open() const { return descriptor_ >= 0; }

  private:
    int descriptor_;
};

uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 32);
}

// Finds damage, not malice: four lanes of multiply and shift, several bytes a cycle.
uint64_t checksum(uint64_t seed, const uint8_t * bytes, size_t size) {
    uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
    uint64_t words[4];
    size_t i = 0;
    for (; i + sizeof words <= size; i += sizeof words) {
        std::memcpy(words, bytes + i, sizeof words);
        for (int lane = 0; lane < 4; lane++) lanes[lane] = mix(lanes[lane], words[lane]);
    }
    std::memset(words, 0, sizeof words);
    if (i < size) std::memcpy(words, bytes + i, size - i);
    uint64_t hash = size;
    for (int lane = 0; lane < 4; lane++) hash = mix(hash, mix(lanes[lane], words[lane]));
    return hash;
}

uint64_t checksum(const KvState & state) {
    return checksum(checksum(0, state.meta.data(), state.meta.size()), state.data.get(), state.n_data);
}

bool write_state(const std::string & path, const KvState & state) {
    File file(path, O_WRONLY | O_CREAT | O_TRUNC);
    const Header header{kMagic, state.meta.size(), state.n_data, checksum(state)};
    return file.is_open() && file.write(&header, sizeof header) && file.write(state.meta.data(), state.meta.size()) &&
           file.write(state.data.get(), state.n_data);
}

std::shared_ptr<const KvState> read_state(const std::string & path) {
    File file(path, O_RDONLY);
    Header header{};
    if (!file.is_open() || !file.read(&header, sizeof header) || header.magic != kMagic) return nullptr;
    // Sizes are believed only when the file is that long.
    const uint64_t n_rest = file.size() - sizeof header;
    if (header.n_meta > n_rest || header.n_data != n_rest - header.n_meta) return nullptr;
    auto state = std::make_shared<KvState>();
    state->meta.resize(header.n_meta);
    state->n_data = header.n_data;
    state->data.reset(new uint8_t[header.n_data]);
    if (!file.read(state->meta.data(), header.n_meta) || !file.read(state->data.get(), header.n_data)) return nullptr;
    return checksum(*state) == header.checksum ? state : nullptr;
}

// The calling thread gets a tenth of a core where others want it. (With SCHED_IDLE it gets next to nothing, and what should be
// written is forgotten meanwhile.)
void step_aside() {
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 10);  // on Linux of the thread, not of the process
#endif
}

// How often the calling thread had to leave its core to another; where the system does not tell, always the same.
long n_preemptions() {
#ifdef __linux__
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
#else
    return 0;
#endif
}

}  // namespace

KvDisk::KvDisk(const std::string & parent, std::function<void()> wake)
    : folder_(parent + "/engine-XXXXXX"), wake_(std::move(wake)) {
    if (!mkdtemp(folder_.data())) throw StatusError("internal", parent + ": " + std::strerror(errno));
    try {
        reader_ = std::thread([this] { run(to_read_); });
        writer_ = std::thread([this] {
            step_aside();
            run(to_write_);
        });
    } catch (...) {
        end();
        throw;
    }
}

KvDisk::~KvDisk() { end(); }

void KvDisk::end() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
        has_task_.notify_all();
    }
    for (auto * thread : {&reader_, &writer_}) {
        if (thread->joinable()) thread->join();
    }
    rmdir(folder_.c_str());
}

void KvDisk::write(uint32_t id, std::shared_ptr<const KvState> state) {
    add(to_write_, {Task::Kind::Write, id, std::move(state)});
}
void KvDisk::read(uint32_t id) { add(to_read_, {Task::Kind::Read, id, nullptr}); }
void KvDisk::remove(uint32_t id) noexcept {
    persist([&] { add(to_write_, {Task::Kind::Remove, id, nullptr}); });
}

std::vector<KvDisk::Result> KvDisk::take_results() {
    std::lock_guard lock(mutex_);
    return std::exchange(results_, {});
}

std::string KvDisk::path(uint32_t id) const { return folder_ + '/' + std::to_string(id); }

void KvDisk::add(Tasks & tasks, Task task) {
    std::lock_guard lock(mutex_);
    tasks.push_back(std::move(task));
    has_task_.notify_all();
}

void KvDisk::run(Tasks & tasks) {
    for (;;) {
        Task task;
        {
            std::unique_lock lock(mutex_);
            has_task_.wait(lock, [&] { return closing_ || !tasks.empty(); });
            if (tasks.empty()) return;
            task = std::move(tasks.front());
            tasks.pop_front();
            // While closing, all that remains to do is to remove the files.
            if (closing_ && task.kind != Task::Kind::Remove) continue;
        }
        perform(task);
    }
}

void KvDisk::perform(Task & task) {
    if (task.kind == Task::Kind::Remove) return forget(task.id);
    const auto begin = std::chrono::steady_clock::now();
    const long n_before = n_preemptions();
    Result result{Result::Kind::Read, task.id, false, {}, nullptr, 0, false};
    if (task.kind == Task::Kind::Write) result.kind = Result::Kind::Written;
    const auto status = catch_status([&] {
        if (task.kind == Task::Kind::Read) {
            result.state = read_state(path(task.id));
            result.ok = result.state != nullptr;
            return;
        }
        result.ok = write_state(path(task.id), *task.state);
        if (!result.ok) result.reason = std::strerror(errno);
    });
    if (!status.code.empty()) result.ok = false;
    if (task.kind == Task::Kind::Write && !result.ok) forget(task.id);
    task.state.reset();
    result.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    result.is_measured = n_preemptions() == n_before;
    persist([&] {
        std::lock_guard lock(mutex_);
        results_.push_back(std::move(result));
    });
    wake_();
}

void KvDisk::forget(uint32_t id) {
    persist([&] { unlink(path(id).c_str()); });
}

}  // namespace svc
