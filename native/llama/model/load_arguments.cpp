#include "load_arguments.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

#include "../../common/status.h"
#include "tensor_pattern.h"

namespace svc {

namespace {

// Weights of experts, as llama.cpp's --cpu-moe finds them (common/common.h, LLM_FFN_EXPS_REGEX).
const char * const kExperts = "\\.ffn_(up|down|gate|gate_up)_(ch|)exps";

[[noreturn]] void refuse(const char * option, const std::string & why) {
    throw StatusError("invalid_argument", "'" + std::string(option) + "' " + why);
}

llama_load_mode load_mode_of(const LoadOptions & options) {
    if (options.dry_run) return LLAMA_LOAD_MODE_NONE;
    if (options.direct_io && options.mlock) refuse("directIo", "and 'mlock' exclude each other");
    if (options.direct_io) return LLAMA_LOAD_MODE_DIRECT_IO;
    if (options.mmap) return options.mlock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MMAP;
    return options.mlock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE;
}

// Buffer types by name: those of the devices, and main memory as `CPU`.
std::map<std::string, ggml_backend_buffer_type_t> buffer_types() {
    std::map<std::string, ggml_backend_buffer_type_t> types;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        if (auto * type = ggml_backend_dev_buffer_type(ggml_backend_dev_get(i))) types[ggml_backend_buft_name(type)] = type;
    }
    return types;
}

ggml_backend_buffer_type_t main_memory() {
    return ggml_backend_dev_buffer_type(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
}

template <typename Map> std::string names_of(const Map & map) {
    std::string names;
    for (const auto & [name, value] : map) names += (names.empty() ? "" : ", ") + name;
    return names;
}

// The number that the whole text is.
template <typename T> T number_of(const std::string & text, T (*parse)(const char *, char **)) {
    char * end = nullptr;
    errno = 0;
    const T value = parse(text.c_str(), &end);
    if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0 || *end != '\0' || errno != 0)
        refuse("overrideKv", "has a value that is no number, or none that fits");
    return value;
}

void copy_text(char * to, size_t size, const std::string & text) {
    if (text.size() >= size) refuse("overrideKv", "has a key or text of more than " + std::to_string(size - 1) + " bytes");
    std::memcpy(to, text.c_str(), text.size() + 1);
}

// KEY=TYPE:VALUE
llama_model_kv_override override_of(const std::string & text) {
    const auto equals = text.find('=');
    const auto colon = text.find(':', equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || equals == 0 || colon == std::string::npos)
        refuse("overrideKv", "holds texts of the form KEY=TYPE:VALUE");
    llama_model_kv_override to{};
    copy_text(to.key, sizeof to.key, text.substr(0, equals));
    const auto type = text.substr(equals + 1, colon - equals - 1);
    const auto value = text.substr(colon + 1);
    if (type == "int") {
        to.tag = LLAMA_KV_OVERRIDE_TYPE_INT;
        to.val_i64 = number_of<long long>(value, [](const char * from, char ** end) { return std::strtoll(from, end, 10); });
    } else if (type == "float") {
        to.tag = LLAMA_KV_OVERRIDE_TYPE_FLOAT;
        to.val_f64 = number_of<double>(value, [](const char * from, char ** end) { return std::strtod(from, end); });
    } else if (type == "bool") {
        if (value != "true" && value != "false") refuse("overrideKv", "has a bool that is neither true nor false");
        to.tag = LLAMA_KV_OVERRIDE_TYPE_BOOL;
        to.val_bool = value == "true";
    } else if (type == "str") {
        to.tag = LLAMA_KV_OVERRIDE_TYPE_STR;
        copy_text(to.val_str, sizeof to.val_str, value);
    } else {
        refuse("overrideKv", "knows the types int, float, bool and str");
    }
    return to;
}

}  // namespace

bool uses_mmap(const LoadOptions & options) { return options.mmap && !options.direct_io; }

LoadArguments::LoadArguments(const LoadOptions & options) : params_(llama_model_default_params()) {
    params_.n_gpu_layers = options.n_gpu_layers;
    params_.load_mode = load_mode_of(options);
    params_.split_mode = options.split_mode;
    params_.vocab_only = options.vocab_only;
    params_.no_alloc = options.dry_run;
    params_.check_tensors = options.check_tensors;
    params_.use_extra_bufts = options.repack;
    take_devices(options);
    take_split(options);
    take_tensor_buffers(options);
    take_metadata(options);
}

void LoadArguments::take_devices(const LoadOptions & options) {
    if (options.devices.empty()) return;
    if (options.devices.size() > 1 || options.devices[0] != "none") {
        std::map<std::string, ggml_backend_dev_t> known;
        for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
            auto * device = ggml_backend_dev_get(i);
            if (ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_CPU) known[ggml_backend_dev_name(device)] = device;
        }
        for (const auto & name : options.devices) {
            const auto found = known.find(name);
            if (found == known.end())
                refuse("devices", "names " + name + "; there are: " + (known.empty() ? "none beside the CPU" : names_of(known)));
            if (std::find(devices_.begin(), devices_.end(), found->second) != devices_.end())
                refuse("devices", "names " + name + " twice");
            devices_.push_back(found->second);
        }
    }
    devices_.push_back(nullptr);
    params_.devices = devices_.data();
}

void LoadArguments::take_split(const LoadOptions & options) {
    params_.main_gpu = options.main_gpu;
    if (options.tensor_split.empty()) return;
    if (options.tensor_split.size() > llama_max_devices())
        refuse("tensorSplit", "has more shares than there can be devices, " + std::to_string(llama_max_devices()));
    split_.assign(llama_max_devices(), 0.0f);
    std::copy(options.tensor_split.begin(), options.tensor_split.end(), split_.begin());
    params_.tensor_split = split_.data();
}

// The first pattern that matches counts, so what is named counts before the general --cpu-moe.
void LoadArguments::take_tensor_buffers(const LoadOptions & options) {
    const size_t n_patterns = options.override_tensor.size() + static_cast<size_t>(options.n_cpu_moe) + 1;
    patterns_.reserve(n_patterns);
    const auto types = buffer_types();
    for (const auto & text : options.override_tensor) {
        const auto equals = text.rfind('=');
        if (equals == std::string::npos || equals == 0) refuse("overrideTensor", "holds texts of the form PATTERN=BUFFER");
        const auto found = types.find(text.substr(equals + 1));
        if (found == types.end())
            refuse("overrideTensor", "names the buffer " + text.substr(equals + 1) + "; there are: " + names_of(types));
        add_tensor_buffer(text.substr(0, equals), found->second);
    }
    for (int32_t i = 0; i < options.n_cpu_moe; i++) add_tensor_buffer("blk\\." + std::to_string(i) + kExperts, main_memory());
    if (options.cpu_moe) add_tensor_buffer(kExperts, main_memory());
    if (tensor_buffers_.empty()) return;
    tensor_buffers_.push_back({nullptr, nullptr});
    params_.tensor_buft_overrides = tensor_buffers_.data();
}

void LoadArguments::add_tensor_buffer(std::string pattern, ggml_backend_buffer_type_t buffer) {
    if (!is_tensor_pattern(pattern))
        refuse("overrideTensor", "has the pattern " + pattern + ", which is no regular expression of the simple kind");
    patterns_.push_back(std::move(pattern));
    tensor_buffers_.push_back({patterns_.back().c_str(), buffer});
}

void LoadArguments::take_metadata(const LoadOptions & options) {
    if (options.override_kv.empty()) return;
    for (const auto & text : options.override_kv) metadata_.push_back(override_of(text));
    metadata_.push_back({});  // ends at an empty key
    params_.kv_overrides = metadata_.data();
}

}  // namespace svc
