// How native code fails: one Status, thrown as StatusError inside C++ and turned into one NativeError in TypeScript.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
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

// Runs `work` and gives back what it threw as a Status; an empty code means success.
template <typename Work> Status catch_status(Work && work) {
    try {
        work();
        return {};
    } catch (const StatusError & error) {
        return error.status();
    } catch (const std::bad_alloc &) {
        return {"out_of_memory", "not enough memory for this operation"};
    } catch (const std::exception & error) {
        return {"internal", error.what()};
    }
}

}  // namespace svc
