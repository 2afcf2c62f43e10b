#include "speech_model.h"

#include <unistd.h>

#include <mutex>

#include "../../common/status.h"

namespace svc {

namespace {

thread_local std::string error_log;

void keep_errors(ggml_log_level level, const char * text, void *) {
    if (level != GGML_LOG_LEVEL_ERROR || error_log.size() > 1024) return;
    // Called from C, which nothing may be thrown through.
    catch_status([text] { error_log += text; });
}

}  // namespace

std::shared_ptr<SpeechModel> SpeechModel::load(const std::string & path) {
    static std::once_flag once;
    std::call_once(once, [] { whisper_log_set(keep_errors, nullptr); });
    if (access(path.c_str(), R_OK) != 0) throw StatusError("model_not_found", "the model file " + path + " cannot be read");
    auto params = whisper_context_default_params();
    // A GPU that fails would end the process: what guards against that serves llama.cpp alone.
    params.use_gpu = false;
    error_log.clear();
    auto * context = whisper_init_from_file_with_params_no_state(path.c_str(), params);
    if (!context) throw StatusError("model_invalid", path + " is no speech model that can be used: " + error_log);
    return std::shared_ptr<SpeechModel>(new SpeechModel(context));
}

}  // namespace svc
