#include "stop_search.h"

#include <algorithm>

namespace svc {

StopSearch::StopSearch(std::vector<std::string> stops) : stops_(std::move(stops)) {
    for (const auto & stop : stops_) longest_ = std::max(longest_, stop.size());
}

bool StopSearch::find(std::string_view text, size_t from, Match & match) const {
    size_t best = std::string_view::npos;
    for (const auto & stop : stops_) {
        const size_t at = text.find(stop, from);
        if (at >= best) continue;
        best = at;
        match = {at, stop};
    }
    return best != std::string_view::npos;
}

size_t StopSearch::held_back(std::string_view text) const {
    size_t most = 0;
    for (const auto & stop : stops_) {
        for (size_t length = std::min(stop.size() - 1, text.size()); length > most; length--) {
            if (text.substr(text.size() - length) == std::string_view(stop).substr(0, length)) {
                most = length;
                break;
            }
        }
    }
    return most;
}

}  // namespace svc
