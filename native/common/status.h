// How native code fails: one Status, thrown as StatusError inside C++ and turned into one NativeError in TypeScript.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace svc {

// Codes are listed in ts/server/native/native-error.ts.
struct Status {
    std::string code;
    std::string text;
    // Numbers that belong to the code: context_length_exceeded carries prompt tokens and context size,
    // queue_full the milliseconds after which a retry is worthwhile.
    uint32_t number_a = 0;
    uint32_t number_b = 0;
    // Of several inputs the one that the code is about; -1: the code is not about one of several.
    int32_t input = -1;
};

class StatusError : public std::exception {
  public:
    explicit StatusError(Status status) : status_(std::move(status)) {}
    StatusError(std::string code, std::string text) : status_{std::move(code), std::move(text)} {}

    const char * what() const noexcept override { return status_.text.c_str(); }
    const Status & status() const { return status_; }

  private:
    Status status_;
};

// Of the exception that is being handled.
inline Status current_status() {
    try {
        throw;
    } catch (const StatusError & error) {
        return error.status();
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::system_error & error) {
        if (error.code() != std::errc::resource_unavailable_try_again) return {"internal", error.what()};
        return {"out_of_memory", "no further thread can be started; raise the limits on threads and memory of this process"};
    } catch (const std::exception & error) {
        return {"internal", error.what()};
    } catch (...) {
        return {"internal", "something unknown was thrown"};
    }
}

// Runs `work` and gives back what it threw as a Status; an empty code means success. Throws nothing itself: both texts of the
// last resort are short enough to need no memory.
template <typename Work> Status catch_status(Work && work) noexcept {
    try {
        try {
            work();
            return {};
        } catch (...) {
            return current_status();
        }
    } catch (...) {
        return {"out_of_memory", "out of memory"};
    }
}

// For what has to happen although memory has run out, as a client waits for it or a thread must not end: runs `work` again and
// again until it throws nothing. What it does must bear to be done twice.
template <typename Work> void persist(Work && work) noexcept {
    while (!catch_status(work).code.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace svc
