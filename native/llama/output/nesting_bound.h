// Bounds how deep llama.cpp's chat parser can recurse in an answer, while the answer grows. Where a value begins is known to that
// parser alone, so every place counts as a beginning, and both readings of every quotation mark: the bound is never below the
// depth that the parser reaches, and prose, whose words end any value, does not raise it.
#pragma once

#include <array>
#include <string_view>

#include "chat.h"

namespace svc {

class NestingBound {
  public:
    explicit NestingBound(common_chat_format format) : names_brackets_(format == COMMON_CHAT_FORMAT_PEG_GEMMA4) {}

    // Takes the answer's next bytes.
    void read(std::string_view bytes);
    // Whether the parser must not see this answer any more.
    bool exceeded() const;

  private:
    // What JSON and Python's literals have in common; which of them a format's parser reads does not matter.
    enum State { BeforeValue, BehindValue, Double, DoubleEscape, Single, SingleEscape, kStates };
    using Depths = std::array<int, kStates>;

    void push(char c);
    void read_before_value(char c, Depths & next) const;
    void read_behind_value(char c, Depths & next) const;
    void read_string(State string, State escape, char quote, char c, Depths & next) const;

    // Names of members may hold brackets and stand without quotes, as in Gemma 4's calls, so which bracket closes something is
    // not known: all that open something count.
    bool names_brackets_;
    // The deepest value that may be open in each state; -1: none.
    Depths depths_{0, -1, -1, -1, -1, -1};
    int deepest_ = 0;
    int n_opened_ = 0;
};

}  // namespace svc
