// A mapped file is not ours: whoever shortens it takes pages of the mapping away, and a thread that reads one gets SIGBUS, which
// would end the process. While a guard of the file lives, such a thread reads zeros instead; that the file has changed is for its
// owner to notice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace svc {

class MappedFileGuard {
  public:
    // The file is about to be mapped. Without /proc, as in confined processes, it guards nothing.
    explicit MappedFileGuard(const std::string & path);
    ~MappedFileGuard();
    MappedFileGuard(const MappedFileGuard &) = delete;
    MappedFileGuard & operator=(const MappedFileGuard &) = delete;

    // The paths of all parts of a model whose first part this is.
    static std::vector<std::string> parts_of(const std::string & path);

  private:
    int slot_ = -1;
};

}  // namespace svc
