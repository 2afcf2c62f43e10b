// What llama.cpp's converter takes to write the grammar of JSON schemas. It looks at no budget, and some of its work grows with
// the square of what it reads, or with the cube: a walk like its own finds out before whether the budget has room for it.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "json-schema.h"

namespace svc {

class ConversionCost {
  public:
    // Counts one more schema for the same grammar, whose rules are named after `name`. It has passed SchemaBounds. Throws
    // GrammarLate once the GrammarBudget of the calling thread has no room for all that was added, and StatusError
    // grammar_too_complex.
    void add(const common_json & schema, const std::string & name);

  private:
    struct Property {
        const std::string * name;
        const common_chat_schema * schema;
        bool is_optional;
    };
    using Properties = std::vector<Property>;

    void visit(const common_chat_schema & schema, const std::string & name);
    void read_types(const common_chat_schema & schema);
    void visit_all(const std::vector<common_chat_schema_ptr> & schemas, const std::string & name);
    void visit_reference(const common_chat_schema_ref & schema);
    void visit_object(const Properties & properties, const common_chat_schema * additional, const std::string & name);
    void gather(const common_chat_schema & component, bool is_optional, Properties & to);
    Properties properties_of(const common_chat_schema & schema);
    void read_pattern(const std::string & pattern);
    // How many rules have had the name before.
    size_t add_rule(const std::string & name, size_t n_bytes);
    void spend(size_t n_pieces);

    size_t n_pieces_ = 0;
    size_t n_patterns_ = 0;
    size_t n_rules_ = 0;
    size_t n_rule_bytes_ = 0;
    std::unordered_map<std::string, size_t> n_named_;  // rules of a name
    // They belong to the schema that is being added.
    std::unordered_set<std::string> references_;
    std::unordered_set<const common_chat_schema *> targets_;
};

}  // namespace svc
