// The parameters of a load with all that they point to, which must live as long as the model.
#pragma once

#include <string>
#include <vector>

#include "../options/options.h"
#include "ggml-backend.h"

namespace svc {

class LoadArguments {
  public:
    // Throws StatusError invalid_argument for devices and buffers that are not there and for overrides that cannot be read.
    explicit LoadArguments(const LoadOptions & options);
    LoadArguments(const LoadArguments &) = delete;
    LoadArguments & operator=(const LoadArguments &) = delete;

    llama_model_params & params() { return params_; }

  private:
    void take_devices(const LoadOptions & options);
    void take_split(const LoadOptions & options);
    void take_tensor_buffers(const LoadOptions & options);
    void add_tensor_buffer(std::string pattern, ggml_backend_buffer_type_t buffer);
    void take_metadata(const LoadOptions & options);

    llama_model_params params_;
    std::vector<ggml_backend_dev_t> devices_;
    std::vector<float> split_;
    std::vector<std::string> patterns_;  // never grows beyond what was reserved: tensor_buffers_ points into it
    std::vector<llama_model_tensor_buft_override> tensor_buffers_;
    std::vector<llama_model_kv_override> metadata_;
};

// Weights are read through a mapping of the file.
bool uses_mmap(const LoadOptions & options);

}  // namespace svc
