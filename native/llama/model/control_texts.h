// The texts of a vocabulary's control tokens, which end turns and begin those of others. A message is words of a user, of a page
// or of a tool: were "<|im_end|>" in it read as the token, it could go on as the system. What a template itself writes is not
// touched.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "json.h"
#include "llama.h"

namespace svc {

class ControlTexts {
  public:
    explicit ControlTexts(const llama_vocab * vocab);

    // Breaks each of them up by a zero-width space behind its first character, so that it is read as the text that it is.
    void escape_control_texts(std::string & text) const;
    // The same for a text that a template may read as JSON: the strings in it are judged as they are read, so that escapes
    // ("\u003c|im_end|>") hide nothing. A text that hides nothing stays as it is, to the letter.
    void escape_json_strings(std::string & text) const;

  private:
    bool escape_strings(common_json & value) const;
    bool begins_at(const std::string & text, size_t at) const;

    // The texts are found by their first byte.
    std::array<std::vector<std::string>, 256> texts_;
};

}  // namespace svc
