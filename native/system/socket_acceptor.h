// Accepts connections of a listening socket that this process inherited, on a thread of its own.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace svc {

class SocketAcceptor {
  public:
    // `on_accept` gets a connected, non-blocking descriptor, which is its to close; it is called on the acceptor's thread.
    // The listening socket stays open and goes on listening after stop(): whoever passed it on owns it. Once its owner closes it
    // or shuts it down, no more connections come.
    // Throws StatusError `invalid_argument` for a descriptor that is no listening socket.
    SocketAcceptor(int listening, std::function<void(int)> on_accept);
    ~SocketAcceptor();

    SocketAcceptor(const SocketAcceptor &) = delete;
    SocketAcceptor & operator=(const SocketAcceptor &) = delete;

    struct Address {
        std::string host;
        int port;
    };
    // Where the socket listens. Throws StatusError `unsupported` for a socket that is not of TCP.
    Address address() const;

    // Idempotent. No call of `on_accept` begins after it has returned.
    void stop();

  private:
    void run();

    const int listening_;
    // Written to by stop(): wakes the thread out of poll().
    int wake_[2];
    const std::function<void(int)> on_accept_;
    std::thread thread_;
};

}  // namespace svc
