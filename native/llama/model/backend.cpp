#include "backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

#include "../../common/status.h"
#include "device_fault.h"
#include "ggml-backend.h"
#include "llama.h"
#include "log.h"
#include "mtmd-helper.h"

namespace svc {

namespace {

constexpr size_t kMostErrorLog = 4096;

thread_local std::string error_log;

void keep_errors(ggml_log_level level, const char * text, void *) {
    if (level != GGML_LOG_LEVEL_ERROR || error_log.size() >= kMostErrorLog) return;
    // Called from C, which nothing may be thrown through.
    catch_status([text] { error_log += text; });
}

const char * const kLibraryPrefix = "libggml-";
const char * const kCpuPrefix = "libggml-cpu-";

bool begins_with(const std::string & text, const std::string & prefix) { return text.compare(0, prefix.size(), prefix) == 0; }

// The backend libraries of a folder, those of CPUs last, as ggml loads them: the first device is a GPU where there is one.
std::vector<std::filesystem::path> backend_files(const std::string & folder) {
    std::vector<std::filesystem::path> files;
    for (const auto & entry : std::filesystem::directory_iterator(folder)) {
        const std::string stem = entry.path().stem().string();
        const std::string extension = entry.path().extension().string();
        const bool is_library = extension == ".so" || extension == ".dylib";
        if (is_library && begins_with(stem, kLibraryPrefix) && stem != "libggml-base") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::stable_partition(files.begin(), files.end(), [](const auto & file) { return !begins_with(file.stem(), kCpuPrefix); });
    return files;
}

// All backends but other CPU variants than this one.
void load_variant(const std::string & folder, const std::string & variant) {
    std::string found;
    bool is_loaded = false;
    for (const auto & file : backend_files(folder)) {
        const std::string stem = file.stem().string();
        const bool is_cpu = begins_with(stem, kCpuPrefix);
        if (is_cpu) found += ' ' + stem.substr(std::string(kCpuPrefix).size());
        if (is_cpu && stem != kCpuPrefix + variant) continue;
        const bool loads = ggml_backend_load(file.c_str()) != nullptr;
        is_loaded = is_loaded || (is_cpu && loads);
    }
    if (!is_loaded)
        throw StatusError("invalid_argument", "SVC_CPU_VARIANT is '" + variant +
                                                  "', which is not built or does not run on this CPU; there are:" + found);
}

// What the library registered; null: it is not loaded. ggml keeps a library open that it has taken.
ggml_backend_reg_t find_registry(const std::filesystem::path & file) {
    const std::unique_ptr<void, int (*)(void *)> library(dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD), dlclose);
    auto * init = library ? reinterpret_cast<ggml_backend_reg_t (*)()>(dlsym(library.get(), "ggml_backend_init")) : nullptr;
    auto * registry = init ? init() : nullptr;
    for (size_t i = 0; i < ggml_backend_reg_count(); i++) {
        if (ggml_backend_reg_get(i) == registry) return registry;
    }
    return nullptr;
}

// Why the library's devices are not used; empty: they are. ggml passes over in silence what it cannot load, so it is asked again.
std::string reason_unused(const std::filesystem::path & file) {
    auto * registry = find_registry(file);
    auto said = take_error_log();
    if (!registry) {
        registry = ggml_backend_load(file.c_str());
        said = take_error_log();
    }
    if (registry && ggml_backend_reg_dev_count(registry) > 0) return "";
    if (registry) return "it finds no device that it can compute on" + (said.empty() ? said : ": " + said);
    if (said.empty()) return "it does not run on this machine";
    const auto path = said.rfind(file.string() + ": ");
    return path == std::string::npos ? said : said.substr(path + file.string().size() + 2);
}

std::string & loaded_from() {
    static std::string folder;
    return folder;
}

// What the driver and the toolkit's library say of themselves, as CUDA counts: 12020 is 12.2; 0: it is not there.
int cuda_version(void * library, const char * function) {
    int version = 0;
    auto * read = library ? reinterpret_cast<int (*)(int *)>(dlsym(library, function)) : nullptr;
    return read && read(&version) == 0 ? version : 0;
}

std::vector<UnusedBackend> & unused() {
    static std::vector<UnusedBackend> list;
    return list;
}

}  // namespace

const std::vector<UnusedBackend> & unused_backends() { return unused(); }

void load_backends(const std::string & folder) {
    static std::once_flag once;
    std::call_once(once, [&] {
        loaded_from() = folder;
        install_device_faults();
        llama_log_set(keep_errors, nullptr);
        mtmd_helper_log_set(keep_errors, nullptr);
        common_log_pause(common_log_main());
        const char * variant = std::getenv("SVC_CPU_VARIANT");
        if (variant && *variant) load_variant(folder, variant);
        else ggml_backend_load_all_from_path(folder.c_str());
        for (const auto & file : backend_files(folder)) {
            if (begins_with(file.stem().string(), kCpuPrefix)) continue;
            const auto reason = reason_unused(file);
            if (!reason.empty()) unused().push_back({file.filename().string(), reason});
        }
        llama_backend_init();
    });
}

CudaVersions cuda_versions() {
    const std::unique_ptr<void, int (*)(void *)> driver(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), dlclose);
    const auto file = loaded_from() + "/" + kLibraryPrefix + "cuda.so";
    const std::unique_ptr<void, int (*)(void *)> backend(dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD), dlclose);
    return {cuda_version(driver.get(), "cuDriverGetVersion"), cuda_version(backend.get(), "cudaRuntimeGetVersion")};
}

void use_numa(ggml_numa_strategy strategy) {
    static std::once_flag once;
    if (strategy != GGML_NUMA_STRATEGY_DISABLED) std::call_once(once, [&] { llama_numa_init(strategy); });
}

std::string take_error_log() {
    std::string lines;
    lines.swap(error_log);
    while (!lines.empty() && lines.back() == '\n') lines.pop_back();
    return lines;
}

}  // namespace svc
