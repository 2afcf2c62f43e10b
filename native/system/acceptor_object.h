// A SocketAcceptor as JS sees it: an object that is closed once, by close() or with its environment.
#pragma once

#include <memory>

#include "../common/js_callback.h"
#include "../common/napi_setup.h"
#include "socket_acceptor.h"

namespace svc {

class AcceptorObject : public Napi::ObjectWrap<AcceptorObject> {
  public:
    static void define(Napi::Env env, Napi::Object exports);
    // new Acceptor(descriptor, onAccept)
    explicit AcceptorObject(const Napi::CallbackInfo & info);
    void Finalize(Napi::Env env) override;

  private:
    Napi::Value address(const Napi::CallbackInfo & info);
    Napi::Value close(const Napi::CallbackInfo & info);
    void start(Napi::Env env, int fd);
    void end();

    std::shared_ptr<JsCallback> on_accept_;
    std::unique_ptr<SocketAcceptor> acceptor_;
};

}  // namespace svc
