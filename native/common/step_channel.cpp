#include "step_channel.h"

namespace svc {

void Bytes::record(uint32_t job, RecordKind kind, uint8_t choice, uint16_t index, std::string_view payload) {
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
      doorbell_(JsCallback::create(env, on_step, "svc.step")) {}

void StepChannel::append(std::string_view records) {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    pending_.append(records);
}

void StepChannel::ring() {
    std::lock_guard lock(mutex_);
    if (closed_ || rung_ || pending_.empty()) return;
    rung_ = true;
    auto link = link_;
    doorbell_->call([link](Napi::Env env, Napi::Function) {
        if (link->channel && env != nullptr) link->channel->deliver();
    });
}

void StepChannel::flush() {
    Napi::HandleScope scope(on_step_.Env());
    deliver();
}

void StepChannel::deliver() {
    {
        std::lock_guard lock(mutex_);
        rung_ = false;
        delivering_.clear();
        delivering_.swap(pending_);
    }
    if (delivering_.empty()) return;
    on_step_.Call({Napi::Buffer<char>::Copy(on_step_.Env(), delivering_.data(), delivering_.size())});
}

void StepChannel::close() {
    {
        std::lock_guard lock(mutex_);
        if (closed_) return;
        closed_ = true;
    }
    link_->channel = nullptr;
    doorbell_->release();
}

}  // namespace svc
