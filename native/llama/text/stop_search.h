// Finds stop strings in text that grows, and tells how much of it is safe to show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace svc {

class StopSearch {
  public:
    // One stop string is at most so long.
    static constexpr size_t kMostBytes = 1024;

    explicit StopSearch(std::vector<std::string> stops);

    struct Match {
        size_t at;
        std::string text;
    };

    // Looks at text[from..]; characters before `from` were searched earlier. True and `match` on the earliest stop string.
    bool find(std::string_view text, size_t from, Match & match) const;

    // Length of the longest suffix of `text` that could be the beginning of a stop string. Linear in the stop strings.
    size_t held_back(std::string_view text) const;

    // A match may begin this many bytes before newly added text.
    size_t reach() const { return longest_ == 0 ? 0 : longest_ - 1; }

  private:
    std::vector<std::string> stops_;
    // They say, for each stop string and each of its beginnings, how long the longest shorter beginning is that it ends with.
    std::vector<std::vector<size_t>> borders_;
    size_t longest_ = 0;
};

}  // namespace svc
