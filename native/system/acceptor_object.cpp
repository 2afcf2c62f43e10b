#include "acceptor_object.h"

#include <unistd.h>

#include "../common/env_state.h"

namespace svc {

void AcceptorObject::define(Napi::Env env, Napi::Object exports) {
    exports.Set("Acceptor", DefineClass(env, "Acceptor",
                                        {InstanceMethod("address", &AcceptorObject::address),
                                         InstanceMethod("close", &AcceptorObject::close)}));
}

AcceptorObject::AcceptorObject(const Napi::CallbackInfo & info) : Napi::ObjectWrap<AcceptorObject>(info) {
    auto env = info.Env();
    constructing(env, [&] {
        if (!info[0].IsNumber() || !info[1].IsFunction())
            throw StatusError("invalid_argument", "an acceptor takes a descriptor and a function");
        auto fd = info[0].As<Napi::Number>().DoubleValue();
        if (!(fd >= 0 && fd <= 1'000'000)) throw StatusError("invalid_argument", "the descriptor is out of range");
        on_accept_ = JsCallback::create(env, info[1].As<Napi::Function>(), "svc_accept");
        try {
            start(env, static_cast<int>(fd));
        } catch (...) {
            end();
            throw;
        }
    });
}

void AcceptorObject::start(Napi::Env env, int fd) {
    acceptor_ = std::make_unique<SocketAcceptor>(fd, [callback = on_accept_](int accepted) {
        callback->call([accepted](Napi::Env env, Napi::Function function) {
            // Without an environment nobody can serve the connection.
            if (env == nullptr || function.IsEmpty()) ::close(accepted);
            else function.Call({Napi::Number::New(env, accepted)});
        });
    });
    EnvState::of(env).closers[this] = [this] { end(); };
}

Napi::Value AcceptorObject::address(const Napi::CallbackInfo & info) {
    auto env = info.Env();
    return guarded(env, [&]() -> Napi::Value {
        if (!acceptor_) throw StatusError("closed", "the acceptor is closed");
        auto [host, port] = acceptor_->address();
        auto to = Napi::Object::New(env);
        to.Set("host", host);
        to.Set("port", port);
        return to;
    });
}

Napi::Value AcceptorObject::close(const Napi::CallbackInfo & info) {
    EnvState::of(info.Env()).closers.erase(this);
    end();
    return info.Env().Undefined();
}

void AcceptorObject::Finalize(Napi::Env env) {
    EnvState::of(env).closers.erase(this);
    end();
}

void AcceptorObject::end() {
    acceptor_.reset();
    if (on_accept_) on_accept_->release();
}

}  // namespace svc
