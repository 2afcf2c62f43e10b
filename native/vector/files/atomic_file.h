// A file that takes the place of another one at once and whole, or not at all. What was written is on the disk when commit()
// returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace svc {

class AtomicFile {
  public:
    // All throw StatusError index_write_failed.
    explicit AtomicFile(const std::string & path);
    // Without commit() nothing stays.
    ~AtomicFile();
    AtomicFile(const AtomicFile &) = delete;

    void write(const void * bytes, size_t size);
    void write_at(size_t offset, const void * bytes, size_t size);
    void commit();

  private:
    void flush();

    std::string path_;
    std::string work_path_;
    int descriptor_ = -1;
    std::vector<uint8_t> buffer_;
};

}  // namespace svc
