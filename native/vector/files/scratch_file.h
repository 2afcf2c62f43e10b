// A file without a name, for rows that need not be in memory: the system reads and drops their pages as it sees fit. It is gone
// with the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace svc {

class ScratchFile {
  public:
    // Throws StatusError index_write_failed.
    explicit ScratchFile(const std::string & folder);
    ~ScratchFile();
    ScratchFile(const ScratchFile &) = delete;

    // `size` bytes more, zeros, mapped as long as they are held; a multiple of the system's pages. Throws StatusError
    // index_write_failed when the disk has no room, since a page that could not be written would end the process later.
    std::shared_ptr<uint8_t> grow(size_t size);

  private:
    int descriptor_;
    std::mutex mutex_;
    size_t size_ = 0;
};

}  // namespace svc
