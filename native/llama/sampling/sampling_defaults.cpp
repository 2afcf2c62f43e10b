#include "sampling_defaults.h"

#include <algorithm>
#include <cstdlib>

#include "../model/model.h"

namespace svc {

namespace {

template <typename T> void read(const Model & model, const char * name, T & to, double least, double most) {
    const auto text = model.meta((std::string("general.sampling.") + name).c_str());
    char * end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && value >= least && value <= most) to = static_cast<T>(value);
}

// A file may say anything, and penalties keep a ring of so many tokens for each answer.
constexpr int32_t kMostLookback = 65536;

// -1 means the whole context, as llama.cpp has it.
int32_t bounded_lookback(int32_t n_tokens) { return n_tokens < 0 ? kMostLookback : std::min(n_tokens, kMostLookback); }

}  // namespace

SamplingOptions sampling_defaults(const Model & model) {
    SamplingOptions to;
    for_each_metadata(
        to, [&](const char * name, auto & member, double least, double most) { read(model, name, member, least, most); });
    // Said otherwise than the others: every number is taken, as near as it may be.
    read(model, "penalty_last_n", to.repeat_last_n, -1, 1e9);
    to.repeat_last_n = bounded_lookback(to.repeat_last_n);
    return to;
}

}  // namespace svc
