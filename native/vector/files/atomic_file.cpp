#include "atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "../../common/memory_wait.h"
#include "../../common/status.h"

namespace svc {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

void require(bool is_done, const char * what) {
    if (!is_done) throw StatusError("index_write_failed", std::string(what) + ": " + std::strerror(errno));
}

std::string work_path(const std::string & path) {
    static std::atomic<uint32_t> last{0};
    return path + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(++last);
}

// A rename is only safe from a power cut once its folder is on the disk too.
void sync_folder(const std::string & path) {
    const auto slash = path.find_last_of('/');
    // The file is replaced by now, so this waits for memory.
    const auto folder = with_memory([&] { return slash == std::string::npos ? std::string(".") : path.substr(0, slash + 1); });
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(descriptor >= 0, "the folder of the index file could not be opened");
    const bool is_synced = fsync(descriptor) == 0;
    ::close(descriptor);
    require(is_synced, "the folder of the index file could not be written");
}

}  // namespace

AtomicFile::AtomicFile(const std::string & path) : path_(path), work_path_(work_path(path)) {
    buffer_.reserve(kBufferBytes);
    // What a killed process of the same number left behind.
    unlink(work_path_.c_str());
    descriptor_ = open(work_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    require(descriptor_ >= 0, "the index file could not be created");
}

AtomicFile::~AtomicFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    unlink(work_path_.c_str());
}

void AtomicFile::write(const void * bytes, size_t size) {
    const auto * from = static_cast<const uint8_t *>(bytes);
    while (size > 0) {
        const size_t taken = std::min(size, kBufferBytes - buffer_.size());
        buffer_.insert(buffer_.end(), from, from + taken);
        from += taken;
        size -= taken;
        if (buffer_.size() == kBufferBytes) flush();
    }
}

void AtomicFile::write_at(size_t offset, const void * bytes, size_t size) {
    flush();
    const auto * from = static_cast<const uint8_t *>(bytes);
    while (size > 0) {
        const auto written = pwrite(descriptor_, from, size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        require(written > 0, "the index file could not be written");
        from += written;
        offset += written;
        size -= written;
    }
}

void AtomicFile::commit() {
    flush();
    require(fsync(descriptor_) == 0, "the index file could not be written");
    require(rename(work_path_.c_str(), path_.c_str()) == 0, "the index file could not be replaced");
    ::close(descriptor_);
    descriptor_ = -1;
    sync_folder(path_);
}

void AtomicFile::flush() {
    const uint8_t * from = buffer_.data();
    size_t left = buffer_.size();
    while (left > 0) {
        const auto written = ::write(descriptor_, from, left);
        if (written < 0 && errno == EINTR) continue;
        require(written > 0, "the index file could not be written");
        from += written;
        left -= written;
    }
    buffer_.clear();
}

}  // namespace svc
