#include "backend.h"

#include <mutex>

#include "ggml-backend.h"
#include "llama.h"
#include "log.h"
#include "mtmd-helper.h"

namespace svc {

namespace {

constexpr size_t kMostErrorLog = 4096;

thread_local std::string error_log;

void keep_errors(ggml_log_level level, const char * text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR && error_log.size() < kMostErrorLog) error_log += text;
}

}  // namespace

void load_backends(const std::string & folder) {
    static std::once_flag once;
    std::call_once(once, [&] {
        llama_log_set(keep_errors, nullptr);
        mtmd_helper_log_set(keep_errors, nullptr);
        common_log_pause(common_log_main());
        ggml_backend_load_all_from_path(folder.c_str());
        llama_backend_init();
    });
}

std::string take_error_log() {
    std::string lines;
    lines.swap(error_log);
    while (!lines.empty() && lines.back() == '\n') lines.pop_back();
    return lines;
}

}  // namespace svc
