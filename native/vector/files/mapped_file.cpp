#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../../common/status.h"

namespace svc {

namespace {

struct Descriptor {
    explicit Descriptor(int number) : number(number) {}
    ~Descriptor() { ::close(number); }
    Descriptor(const Descriptor &) = delete;
    const int number;
};

int open_file(const std::string & path) {
    // A pipe would wait for a writer.
    const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (number >= 0) return number;
    const auto code = errno == ENOENT || errno == ENOTDIR ? "index_not_found" : "index_invalid";
    throw StatusError(code, std::string("the index file could not be opened: ") + std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::string & path) {
    const Descriptor file(open_file(path));
    struct stat about {};
    if (fstat(file.number, &about) != 0 || !S_ISREG(about.st_mode)) throw StatusError("index_invalid", "the index is no file");
    if (about.st_size == 0) throw StatusError("index_invalid", "the index file is empty");
    size_ = static_cast<size_t>(about.st_size);
    void * start = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.number, 0);
    if (start == MAP_FAILED) throw StatusError("out_of_memory", "the index file could not be mapped");
    bytes_ = static_cast<const uint8_t *>(start);
}

MappedFile::~MappedFile() { munmap(const_cast<uint8_t *>(bytes_), size_); }

}  // namespace svc
