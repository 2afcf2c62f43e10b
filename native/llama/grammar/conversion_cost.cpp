#include "conversion_cost.h"

#include <algorithm>
#include <new>

#include "../../common/status.h"
#include "converted_grammar.h"
#include "grammar_budget.h"

namespace svc {

namespace {

// More are no schema of a person's, and are slow to follow.
constexpr size_t kMostPatterns = 2000;
// Work is counted in look-ups.
constexpr size_t kPiecesPerSchema = 4000;  // a parser of calls is made of it too
constexpr size_t kPiecesPerRule = 20;
constexpr size_t kPiecesPerSameName = 2;  // a name is put together for each rule that has it
constexpr size_t kPiecesPerRange = 300;
constexpr size_t kPiecesPerPatternByte = 2;
constexpr size_t kBytesPerPiece = 1024;  // of text that is copied
constexpr size_t kCopiedNamesPerPiece = 16;
constexpr size_t kShortRuleBytes = 64;

template <typename T> const T & as(const common_chat_schema & schema) { return static_cast<const T &>(schema); }

std::string below(const std::string & name, const std::string & part) { return name.empty() ? part : name + "-" + part; }

// The converter names a rule so: a hyphen stands for whatever may not be in a name, one after the other.
std::string rule_name_of(const std::string & name) {
    std::string escaped;
    for (size_t i = 0; i < name.size(); i++) {
        if (is_rule_letter(name[i])) escaped += name[i];
        else if (i == 0 || is_rule_letter(name[i - 1])) escaped += '-';
    }
    return escaped;
}

// The document has no root where it is no schema: the converter, which is next, says why.
common_chat_schema_document read(const common_json & schema) {
    try {
        return common_chat_schema_from_json(schema);
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception &) {
        return {};
    }
}

size_t n_literal_bytes_of(const common_chat_schema & schema) {
    if (schema.kind() == common_chat_schema::KIND_CONST) return as<common_chat_schema_const>(schema).value.dump_safe().size();
    size_t n_bytes = 0;
    for (const auto & value : as<common_chat_schema_enum>(schema).values) n_bytes += value.dump_safe().size();
    return n_bytes;
}

}  // namespace

void ConversionCost::add(const common_json & schema, const std::string & name) {
    spend(kPiecesPerSchema);
    references_.clear();
    const auto document = read(schema);
    if (!document.root) return;
    read_types(*document.root);
    if (document.root->kind() == common_chat_schema::KIND_OBJECT) {
        for (const auto & property : as<common_chat_schema_object>(*document.root).properties) read_types(*property.schema);
    }
    visit(*document.root, name);
}

// Parsers of calls ask so for the types that an argument may have: through references on every way that there is, of which
// alternatives of alternatives have any number.
void ConversionCost::read_types(const common_chat_schema & schema) {
    spend(1);
    if (schema.kind() == common_chat_schema::KIND_REF) {
        const auto * target = as<common_chat_schema_ref>(schema).target;
        if (!target || !targets_.insert(target).second) return;
        read_types(*target);
        targets_.erase(target);
    } else if (schema.kind() == common_chat_schema::KIND_ANY_OF) {
        for (const auto & each : as<common_chat_schema_any_of>(schema).children) read_types(*each);
    } else if (schema.kind() == common_chat_schema::KIND_ALL_OF) {
        for (const auto & each : as<common_chat_schema_all_of>(schema).children) read_types(*each);
    }
}

void ConversionCost::visit(const common_chat_schema & schema, const std::string & name) {
    size_t n_bytes = kShortRuleBytes;
    switch (schema.kind()) {
        case common_chat_schema::KIND_REF: visit_reference(as<common_chat_schema_ref>(schema)); break;
        case common_chat_schema::KIND_ANY_OF:
            visit_all(as<common_chat_schema_any_of>(schema).children, name.empty() ? "alternative" : name);
            break;
        case common_chat_schema::KIND_TUPLE: visit_all(as<common_chat_schema_tuple>(schema).items, below(name, "tuple")); break;
        case common_chat_schema::KIND_ARRAY: visit(*as<common_chat_schema_array>(schema).items, below(name, "item")); break;
        case common_chat_schema::KIND_ALL_OF: visit_object(properties_of(schema), nullptr, name); break;
        case common_chat_schema::KIND_OBJECT:
            visit_object(properties_of(schema), as<common_chat_schema_object>(schema).additional_properties.get(), name);
            break;
        case common_chat_schema::KIND_CONST:
        case common_chat_schema::KIND_ENUM:
            n_bytes += n_literal_bytes_of(schema);
            spend(n_bytes);
            break;
        case common_chat_schema::KIND_STRING:
            n_bytes += as<common_chat_schema_string>(schema).pattern.size();
            read_pattern(as<common_chat_schema_string>(schema).pattern);
            break;
        case common_chat_schema::KIND_INTEGER: spend(kPiecesPerRange); break;
        default: spend(kPiecesPerRule); return;  // a rule that all share
    }
    add_rule(name, n_bytes);
}

void ConversionCost::visit_all(const std::vector<common_chat_schema_ptr> & schemas, const std::string & name) {
    for (size_t i = 0; i < schemas.size(); i++) visit(*schemas[i], below(name, std::to_string(i)));
}

// What it leads to is converted once.
void ConversionCost::visit_reference(const common_chat_schema_ref & schema) {
    spend(schema.ref.size());
    if (schema.target && references_.insert(schema.ref).second) visit(*schema.target, "ref" + schema.ref.substr(1));
}

void ConversionCost::visit_object(const Properties & properties, const common_chat_schema * additional,
                                  const std::string & name) {
    size_t n_name_bytes = 0, n_optional = 0, n_pieces_per_tail = 0;
    for (const auto & property : properties) {
        const auto rule = below(name, *property.name);
        visit(*property.schema, rule);
        const size_t n_same = add_rule(rule + "-kv", property.name->size() + kShortRuleBytes);
        n_name_bytes += property.name->size();
        if (!property.is_optional) continue;
        n_optional++;
        n_pieces_per_tail += kPiecesPerRule + rule.size() + n_same * kPiecesPerSameName;
    }
    if (additional) {
        n_optional++;
        // The names that it may not have are written out as a tree of letters.
        if (!properties.empty()) spend(n_name_bytes * 4);
        add_rule(below(name, "additional-k"), n_name_bytes * 16 + kShortRuleBytes);
        add_rule(below(name, "additional-kv"), kShortRuleBytes);
        if (additional->kind() != common_chat_schema::KIND_ANY) visit(*additional, below(name, "additional-value"));
    }
    // A rule for each tail of the list is written for each place that the list can begin at, and the tail is copied for it.
    spend(n_optional * n_pieces_per_tail / 2 + n_optional * n_optional * n_optional / 6 / kCopiedNamesPerPiece);
    n_rules_ += n_optional;
    n_rule_bytes_ += n_optional * (kShortRuleBytes + name.size()) + n_name_bytes;
}

// The converter makes one object of an allOf so: what is in alternatives may be left out.
void ConversionCost::gather(const common_chat_schema & component, bool is_optional, Properties & to) {
    if (component.kind() == common_chat_schema::KIND_REF) {
        if (const auto * target = as<common_chat_schema_ref>(component).target) gather(*target, is_optional, to);
    } else if (component.kind() == common_chat_schema::KIND_OBJECT) {
        const auto & properties = as<common_chat_schema_object>(component).properties;
        // An allOf may name the same object again and again.
        spend(kPiecesPerRule * (1 + properties.size()));
        for (const auto & property : properties) to.push_back({&property.name, property.schema.get(), is_optional});
    }
}

ConversionCost::Properties ConversionCost::properties_of(const common_chat_schema & schema) {
    Properties properties;
    if (schema.kind() == common_chat_schema::KIND_OBJECT) {
        for (const auto & property : as<common_chat_schema_object>(schema).properties)
            properties.push_back({&property.name, property.schema.get(), !property.required});
        return properties;
    }
    for (const auto & child : as<common_chat_schema_all_of>(schema).children) {
        if (child->kind() == common_chat_schema::KIND_ANY_OF) {
            for (const auto & each : as<common_chat_schema_any_of>(*child).children) gather(*each, true, properties);
        } else {
            gather(*child, false, properties);
        }
    }
    return properties;
}

// For each pattern the converter copies all rules that it has, to go back to them.
void ConversionCost::read_pattern(const std::string & pattern) {
    if (pattern.empty()) return;
    if (++n_patterns_ > kMostPatterns)
        throw StatusError("grammar_too_complex", "the schemas of this request have more than " + std::to_string(kMostPatterns) +
                                                     " patterns; leave out some, or describe them in words");
    spend(n_rules_ + n_rule_bytes_ / kBytesPerPiece);
    // A sign of repetition copies what it repeats.
    spend(pattern.size() * kPiecesPerPatternByte + pattern.size() * pattern.size() / kBytesPerPiece);
    n_rules_ += static_cast<size_t>(std::count(pattern.begin(), pattern.end(), '{'));
    n_rule_bytes_ += 2 * pattern.size();
}

size_t ConversionCost::add_rule(const std::string & name, size_t n_bytes) {
    // It is paid before the name is copied: names below each other grow.
    spend(kPiecesPerRule + name.size());
    const size_t n_same = n_named_[rule_name_of(name)]++;
    spend(n_same * kPiecesPerSameName);
    n_rules_++;
    n_rule_bytes_ += name.size() + n_bytes;
    return n_same;
}

void ConversionCost::spend(size_t n_pieces) {
    n_pieces_ += n_pieces;
    GrammarBudget::reserve(n_pieces_);
}

}  // namespace svc
