#include "sampling_defaults.h"

#include <cstdlib>

#include "model.h"

namespace svc {

namespace {

template <typename T> void read(const Model & model, const char * name, T & to, double least, double most) {
    const auto text = model.meta((std::string("general.sampling.") + name).c_str());
    char * end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && value >= least && value <= most) to = static_cast<T>(value);
}

}  // namespace

SamplingOptions sampling_defaults(const Model & model) {
    SamplingOptions to;
    read(model, "temp", to.temperature, 0, 100);
    read(model, "top_k", to.top_k, 0, 1e9);
    read(model, "top_p", to.top_p, 0, 1);
    read(model, "min_p", to.min_p, 0, 1);
    read(model, "xtc_probability", to.xtc_probability, 0, 1);
    read(model, "xtc_threshold", to.xtc_threshold, 0, 1);
    read(model, "penalty_repeat", to.repeat_penalty, 0.01, 100);
    read(model, "penalty_last_n", to.repeat_last_n, 0, 1e9);
    read(model, "mirostat", to.mirostat, 0, 2);
    read(model, "mirostat_tau", to.mirostat_tau, 0, 1e9);
    read(model, "mirostat_eta", to.mirostat_eta, 0, 1e9);
    return to;
}

}  // namespace svc
