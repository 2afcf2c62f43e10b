// The clock of everything that the engine measures.
#pragma once

#include <chrono>

namespace svc {

using Clock = std::chrono::steady_clock;

inline double ms_of(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }
inline double ms_between(Clock::time_point from, Clock::time_point to) { return ms_of(to - from); }

}  // namespace svc
