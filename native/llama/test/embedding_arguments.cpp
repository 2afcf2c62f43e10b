// The few arguments that embedding.test.ts gives to upstream's embedding program, in place of upstream's reader of arguments:
// that one knows how to download models, and the HTTP library for it is not compiled.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "arg.h"
#include "common.h"

namespace {

void set_argument(common_params & params, const std::string & name, const std::string & value) {
    if (name == "-m") {
        params.model.path = value;
    } else if (name == "-p") {
        params.prompt = value;
    } else if (name == "-c") {
        params.n_ctx = std::stoi(value);
    } else if (name == "-t") {
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = std::stoi(value);
    } else if (name == "-fa" && value == "off") {
        params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    } else if (name == "--embd-output-format") {
        params.embd_out = value;
    } else {
        throw std::invalid_argument(name + " " + value);
    }
}

}  // namespace

bool common_params_parse(int argc, char ** argv, common_params & params, llama_example, void (*)(int, char **)) try {
    ggml_backend_load_all();
    params.fit_params = false;
    for (int i = 1; i + 1 < argc; i += 2) set_argument(params, argv[i], argv[i + 1]);
    return true;
} catch (const std::exception & error) {
    std::cerr << "unknown argument: " << error.what() << '\n';
    return false;
}
