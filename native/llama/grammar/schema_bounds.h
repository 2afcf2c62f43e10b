// What of a JSON schema llama.cpp's converter cannot take without the stack, or the memory, running out: it follows references
// and the letters of names recursively, an allOf through references without an end, and copies what a list of types stands
// beside.
#pragma once

#include <map>
#include <string>

#include "json.h"

namespace svc {

class SchemaBounds {
  public:
    // `member`: where the schema stands, for messages. Its JSON has passed check_json().
    SchemaBounds(const common_json & root, std::string member) : root_(root), member_(std::move(member)) {}

    // Throws StatusError invalid_grammar, which names the member and the limit.
    void check();

  private:
    [[noreturn]] void refuse(const std::string & what) const;
    void walk(const common_json & value, size_t n_copies, size_t depth);
    void walk_members(const common_json & schema, size_t n_copies, size_t depth);
    void check_name(const std::string & name) const;
    void check_optional(size_t n_optional) const;
    void check_references();
    void follow(const std::string & first) const;
    size_t n_optional_of(const common_json & schema) const;
    size_t n_alternatives_of(const common_json & components) const;
    const common_json * target_of(const std::string & reference) const;

    const common_json & root_;
    std::string member_;
    size_t deepest_ = 0;
    size_t n_parts_ = 0;
    size_t n_values_ = 0;
    // Each "$ref" of the schema, and the one that is all there is where it leads to.
    std::map<std::string, std::string> references_;
};

}  // namespace svc
