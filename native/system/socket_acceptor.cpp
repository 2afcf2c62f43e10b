#include "socket_acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "../common/status.h"

namespace svc {

namespace {

bool is_listening(int fd) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value == 1;
}

void set_flags(int fd) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

// Frames are written whole, so waiting for more to send with them only delays tokens.
void send_at_once(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

SocketAcceptor::SocketAcceptor(int listening, std::function<void(int)> on_accept)
    : listening_(listening), wake_{-1, -1}, on_accept_(std::move(on_accept)) {
    if (!is_listening(listening)) throw StatusError("invalid_argument", "the descriptor is no listening socket");
    set_flags(listening);
    // A descriptor that is marked after it was made is inherited by a program that another thread starts in between.
    if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) throw StatusError("out_of_memory", "no descriptors are left for a pipe");
    try {
        thread_ = std::thread([this] { run(); });
    } catch (...) {
        for (int end : wake_) close(end);
        throw;
    }
}

SocketAcceptor::~SocketAcceptor() {
    stop();
    for (int end : wake_) close(end);
}

SocketAcceptor::Address SocketAcceptor::address() const {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    char host[INET6_ADDRSTRLEN] = "";
    auto * generic = reinterpret_cast<sockaddr *>(&name);
    if (getsockname(listening_, generic, &size) == 0) {
        auto * v4 = reinterpret_cast<sockaddr_in *>(&name);
        auto * v6 = reinterpret_cast<sockaddr_in6 *>(&name);
        if (name.ss_family == AF_INET && inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host)) return {host, ntohs(v4->sin_port)};
        if (name.ss_family == AF_INET6 && inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host))
            return {host, ntohs(v6->sin6_port)};
    }
    throw StatusError("unsupported", "the inherited socket does not listen on a TCP address");
}

void SocketAcceptor::stop() {
    if (!thread_.joinable()) return;
    while (write(wake_[1], "", 1) < 0 && errno == EINTR) {
    }
    thread_.join();
}

void SocketAcceptor::run() {
    for (;;) {
        pollfd waiting[] = {{listening_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
        if (poll(waiting, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if (waiting[1].revents != 0) return;
        // Closed or shut down by whoever owns it: poll() would say so for ever, without a pause.
        if ((waiting[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
        if ((waiting[0].revents & POLLIN) == 0) continue;
        int accepted = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (accepted >= 0) {
            send_at_once(accepted);
            // Where memory lacks to hand it over, the connection is refused.
            if (!catch_status([&] { on_accept_(accepted); }).code.empty()) close(accepted);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            // The connection stays in the kernel's queue until descriptors are free again.
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        } else if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK || errno == EOPNOTSUPP) {
            return;  // it listens no more
        }
    }
}

}  // namespace svc
