// A speech model in memory. States that compute with it share its weights.
#pragma once

#include <memory>
#include <string>

#include "whisper.h"

namespace svc {

class SpeechModel {
  public:
    // Reads the file, whose numbers whoever calls has checked (ts/server/domains/media/speech-model-file.ts): upstream trusts
    // them. Throws StatusError model_not_found or model_invalid.
    static std::shared_ptr<SpeechModel> load(const std::string & path);

    whisper_context * raw() const { return context_.get(); }
    bool is_multilingual() const { return whisper_is_multilingual(context_.get()) != 0; }

  private:
    struct Free {
        void operator()(whisper_context * context) const { whisper_free(context); }
    };
    explicit SpeechModel(whisper_context * context) : context_(context) {}

    std::unique_ptr<whisper_context, Free> context_;
};

}  // namespace svc
