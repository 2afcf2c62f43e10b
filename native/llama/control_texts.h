// The texts of a vocabulary's control tokens, which end turns and begin those of others. A message is words of a user, of a page
// or of a tool: were "<|im_end|>" in it read as the token, it could go on as the system. What a template itself writes is not
// touched.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "llama.h"

namespace svc {

class ControlTexts {
  public:
    explicit ControlTexts(const llama_vocab * vocab);

    // Breaks each of them up by a zero-width space behind its first character, so that it is read as the text that it is.
    void defuse(std::string & text) const;

  private:
    bool begins_at(const std::string & text, size_t at) const;

    // By their first byte.
    std::array<std::vector<std::string>, 256> texts_;
};

}  // namespace svc
