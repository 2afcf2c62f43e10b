// What the service manager (systemd) hears of this process; sd_notify(3) describes the protocol.
#pragma once

#include <string>

namespace svc {

// Sends `state` (for example "READY=1") to the socket that NOTIFY_SOCKET names. False: no service manager asked to be told.
// Throws StatusError `notify_failed` where the socket takes nothing.
bool notify_service_manager(const std::string & state);

}  // namespace svc
