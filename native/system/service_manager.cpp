#include "service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "../common/status.h"

namespace svc {

namespace {

class DatagramSocket {
  public:
    DatagramSocket() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
    ~DatagramSocket() {
        if (fd_ >= 0) close(fd_);
    }
    DatagramSocket(const DatagramSocket &) = delete;
    DatagramSocket & operator=(const DatagramSocket &) = delete;
    int fd() const { return fd_; }

  private:
    int fd_;
};

}  // namespace

bool notify_service_manager(const std::string & state) {
    const char * path = std::getenv("NOTIFY_SOCKET");
    if (!path || (path[0] != '/' && path[0] != '@')) return false;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    auto length = std::strlen(path);
    if (length >= sizeof address.sun_path) throw StatusError("notify_failed", "NOTIFY_SOCKET is too long for a socket's name");
    std::memcpy(address.sun_path, path, length);
    // An abstract name begins with a zero byte, which the variable spells as @.
    if (path[0] == '@') address.sun_path[0] = 0;
    DatagramSocket to;
    auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    auto sent = sendto(to.fd(), state.data(), state.size(), 0, reinterpret_cast<sockaddr *>(&address), size);
    if (sent < 0) throw StatusError("notify_failed", std::string("the service manager cannot be told: ") + std::strerror(errno));
    return true;
}

}  // namespace svc
