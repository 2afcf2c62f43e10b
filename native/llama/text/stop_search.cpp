#include "stop_search.h"

#include <algorithm>

namespace svc {

namespace {

// How much of `stop` is matched when `c` follows n_matched bytes of it.
size_t extend(std::string_view stop, const std::vector<size_t> & borders, size_t n_matched, char c) {
    while (n_matched > 0 && stop[n_matched] != c) n_matched = borders[n_matched];
    return stop[n_matched] == c ? n_matched + 1 : 0;
}

std::vector<size_t> borders_of(std::string_view stop) {
    std::vector<size_t> borders{0, 0};
    for (size_t length = 2; length <= stop.size(); length++)
        borders.push_back(extend(stop, borders, borders[length - 1], stop[length - 1]));
    return borders;
}

}  // namespace

StopSearch::StopSearch(std::vector<std::string> stops) : stops_(std::move(stops)) {
    stops_.erase(std::remove(stops_.begin(), stops_.end(), ""), stops_.end());
    for (const auto & stop : stops_) {
        longest_ = std::max(longest_, stop.size());
        borders_.push_back(borders_of(stop));
    }
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

// Knuth, Morris and Pratt's search over the end of the text; where it stands then is what could go on.
size_t StopSearch::held_back(std::string_view text) const {
    size_t most = 0;
    for (size_t i = 0; i < stops_.size(); i++) {
        const auto & stop = stops_[i];
        size_t n_matched = 0;
        for (char c : text.substr(text.size() - std::min(text.size(), stop.size() - 1)))
            n_matched = extend(stop, borders_[i], n_matched, c);
        most = std::max(most, n_matched);
    }
    return most;
}

}  // namespace svc
