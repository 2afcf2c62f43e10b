// A file's bytes in memory, read when they are touched. The file may be replaced meanwhile (another one of the same name); one
// that somebody shortens in place ends the process at the next touch, as for every mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace svc {

class MappedFile {
  public:
    // Throws StatusError index_not_found or index_invalid.
    explicit MappedFile(const std::string & path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;

    const uint8_t * bytes() const { return bytes_; }
    size_t size() const { return size_; }

  private:
    const uint8_t * bytes_ = nullptr;
    size_t size_ = 0;
};

}  // namespace svc
