// The crossing to JS: records gather in one buffer, and a wake-up hands the whole buffer over once per decode step.
// The layout is read by ts/server/native/step-reader.ts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "js_callback.h"
#include "napi_setup.h"
#include "status.h"

namespace svc {

// The job of records that belong to none.
constexpr uint32_t kNoJob = 0;

enum class RecordKind : uint8_t {
    Start = 1,
    Content = 2,
    Reasoning = 3,
    ToolCall = 4,
    ToolArguments = 5,
    Logprobs = 6,
    Finish = 7,
    Done = 8,
    Error = 9,
};

// Little-endian byte string that records and their payloads are built in.
class Bytes {
  public:
    void u8(uint8_t value) { data_.push_back(static_cast<char>(value)); }
    void u16(uint16_t value) { raw(&value, sizeof value); }
    void u32(uint32_t value) { raw(&value, sizeof value); }
    void i32(int32_t value) { raw(&value, sizeof value); }
    void f32(float value) { raw(&value, sizeof value); }
    void text(std::string_view value) { data_.append(value); }
    void record(uint32_t job, RecordKind kind, uint8_t choice, uint16_t index, std::string_view payload);
    std::string & data() { return data_; }
    std::string_view view() const { return data_; }

  private:
    void raw(const void * value, size_t size) { data_.append(static_cast<const char *>(value), size); }
    std::string data_;
};

// Thread-safe on the native side; JS sees one callback for each ring() that found something new.
class StepChannel {
  public:
    StepChannel(Napi::Env env, Napi::Function on_step);
    // JS thread only.
    ~StepChannel() { close(); }
    StepChannel(const StepChannel &) = delete;
    StepChannel & operator=(const StepChannel &) = delete;

    // Appends records; they wait for ring().
    void append(std::string_view records);
    // Asks JS to fetch what waits. Cheap when JS was already asked.
    void ring();
    // Both, however long memory lacks for it.
    void send(std::string_view records) noexcept;
    // JS thread only: hands over now what waits.
    void flush();
    // JS thread only: nothing is delivered any more.
    void close();

  private:
    void deliver();

    // Calls already queued to the JS thread may run after close(); the link outlives the channel for them.
    // Only the JS thread reads or writes it.
    struct Link {
        StepChannel * channel;
    };
    std::shared_ptr<Link> link_;

    std::mutex mutex_;
    std::string pending_;
    std::string delivering_;
    bool rung_ = false;
    bool closed_ = false;
    Napi::FunctionReference on_step_;
    std::shared_ptr<JsCallback> wake_up_;
};

}  // namespace svc
