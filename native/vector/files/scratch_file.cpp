#include "scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../../common/status.h"

namespace svc {

namespace {

[[noreturn]] void refuse(const char * what) {
    throw StatusError("index_write_failed", std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

ScratchFile::ScratchFile(const std::string & folder) {
    std::string path = folder + "/.rows-XXXXXX";
    descriptor_ = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor_ < 0) refuse("a file for vectors could not be created");
    unlink(path.c_str());
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

std::shared_ptr<uint8_t> ScratchFile::grow(size_t size) {
    std::lock_guard lock(mutex_);
    const std::vector<uint8_t> zeros(size);
    for (size_t written = 0; written < size;) {
        const auto n = pwrite(descriptor_, zeros.data() + written, size - written, static_cast<off_t>(size_ + written));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) refuse("the file for vectors could not be written");
        written += static_cast<size_t>(n);
    }
    void * start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, static_cast<off_t>(size_));
    if (start == MAP_FAILED) refuse("the file for vectors could not be mapped");
    size_ += size;
    return {static_cast<uint8_t *>(start), [size](uint8_t * at) { munmap(at, size); }};
}

}  // namespace svc
