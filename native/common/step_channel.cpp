#include "step_channel.h"

namespace svc {

void Bytes::record(uint32_t job, RecordKind kind, uint8_t choice, uint16_t index, std::string_view payload) {
    // Nothing of it is written where there is no memory for all.
    data_.reserve(data_.size() + 16 + payload.size());
    u32(job);
    u8(static_cast<uint8_t>(kind));
    u8(choice);
    u16(index);
    u32(static_cast<uint32_t>(payload.size()));
    text(payload);
    data_.append((4 - payload.size() % 4) % 4, '\0');
}

StepChannel::StepChannel(Napi::Env env, Napi::Function on_step)
    : link_(std::make_shared<Link>(Link{this})),
      on_step_(Napi::Persistent(on_step)),
      wake_up_(JsCallback::create(env, on_step, "svc.step")) {}

void StepChannel::append(std::string_view records) {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    pending_.append(records);
}

void StepChannel::ring() {
    std::lock_guard lock(mutex_);
    if (closed_ || rung_ || pending_.empty()) return;
    auto link = link_;
    wake_up_->call([link](Napi::Env env, Napi::Function) {
        if (link->channel && env != nullptr) link->channel->deliver();
    });
    rung_ = true;
}

void StepChannel::send(std::string_view records) noexcept {
    persist([&] { append(records); });
    persist([this] { ring(); });
}

void StepChannel::flush() {
    Napi::HandleScope scope(on_step_.Env());
    deliver();
}

void StepChannel::deliver() {
    {
        std::lock_guard lock(mutex_);
        rung_ = false;
        // What could not be handed over for lack of memory goes first (JsCallback calls again).
        delivering_.append(pending_);
        pending_.clear();
    }
    if (delivering_.empty()) return;
    const auto records = Napi::Buffer<char>::Copy(on_step_.Env(), delivering_.data(), delivering_.size());
    try {
        on_step_.Call({records});
    } catch (const Napi::Error &) {
        delivering_.clear();
        throw;
    }
    delivering_.clear();
}

void StepChannel::close() {
    {
        std::lock_guard lock(mutex_);
        if (closed_) return;
        closed_ = true;
    }
    link_->channel = nullptr;
    wake_up_->release();
}

}  // namespace svc
