#include "schema_bounds.h"

#include <algorithm>
#include <set>

#include "../../common/status.h"
#include "common.h"

namespace svc {

namespace {

constexpr size_t kMostNameBytes = 1024;
// References, each once, times the levels that the schema has: no walk through them is longer.
constexpr size_t kMostReferenceLevels = 2000;
// The converter writes a rule for each tail of the list of what may be left out, and copies the list for each.
constexpr size_t kMostOptional = 500;
// Where several types are listed, the schema is read once for each.
constexpr size_t kMostParts = 20000;
constexpr size_t kMostValues = 1000000;
// JSON has no more. All that stands beside the list is copied for each.
constexpr size_t kMostTypes = 7;

std::string text_at(const common_json & object, const char * key) {
    return object.contains(key) && object.at(key).is_string() ? object.at(key).get<std::string>() : std::string();
}

// How often what stands below a schema is read.
size_t n_copies_of(const common_json & schema) {
    if (!schema.contains("type") || !schema.at("type").is_array()) return 1;
    size_t n_copies = 0;
    for (const auto & type : schema.at("type")) {
        const auto name = type.is_string() ? type.get<std::string>() : std::string();
        n_copies += name == "object" || name == "array" || name == "string";
    }
    return std::max<size_t>(n_copies, 1);
}

}  // namespace

void SchemaBounds::check() {
    walk(root_, 1, 1);
    check_references();
}

void SchemaBounds::refuse(const std::string & what) const {
    throw StatusError("invalid_grammar", member_ + " cannot be followed: " + what);
}

void SchemaBounds::walk(const common_json & value, size_t n_copies, size_t depth) {
    deepest_ = std::max(deepest_, depth);
    n_values_ += n_copies;
    if (n_values_ > kMostValues)
        refuse("with a copy for each of its types it has more than " + std::to_string(kMostValues) + " values");
    if (value.is_array()) {
        for (const auto & each : value) walk(each, n_copies, depth + 1);
    } else if (value.is_object()) {
        n_parts_ += n_copies;
        if (n_parts_ > kMostParts)
            refuse("with a copy for each of its types it has more than " + std::to_string(kMostParts) + " parts");
        walk_members(value, n_copies * n_copies_of(value), depth);
    }
}

void SchemaBounds::walk_members(const common_json & schema, size_t n_copies, size_t depth) {
    if (schema.contains("type") && schema.at("type").is_array() && schema.at("type").size() > kMostTypes)
        refuse("a list of types in it has more than " + std::to_string(kMostTypes) + " types");
    check_optional(n_optional_of(schema));
    if (schema.contains("allOf")) check_optional(n_alternatives_of(schema.at("allOf")));
    if (const auto reference = text_at(schema, "$ref"); !reference.empty()) {
        check_name(reference);
        references_.emplace(reference, "");
        if (references_.size() > kMostReferenceLevels) check_references();
    }
    for (const auto & [name, value] : schema.items()) {
        check_name(name);
        walk(value, n_copies, depth + 1);
    }
}

void SchemaBounds::check_name(const std::string & name) const {
    if (name.size() > kMostNameBytes) refuse("a name in it has more than " + std::to_string(kMostNameBytes) + " bytes");
}

void SchemaBounds::check_optional(size_t n_optional) const {
    if (n_optional > kMostOptional)
        refuse("an object in it has more than " + std::to_string(kMostOptional) + " properties that are not required");
}

void SchemaBounds::check_references() {
    if (references_.size() * deepest_ > kMostReferenceLevels)
        refuse("it has " + std::to_string(references_.size()) + " different references and " + std::to_string(deepest_) +
               " levels, of which the product may be " + std::to_string(kMostReferenceLevels));
    for (auto & [reference, next] : references_) {
        const auto * target = target_of(reference);
        if (target && target->is_object()) next = text_at(*target, "$ref");
    }
    for (const auto & [reference, _] : references_) follow(reference);
}

void SchemaBounds::follow(const std::string & first) const {
    auto at = references_.find(first);
    for (size_t n_steps = 0; at != references_.end() && !at->second.empty(); n_steps++) {
        if (n_steps > references_.size()) refuse("the reference " + first + " leads to itself and to nothing else");
        at = references_.find(at->second);
    }
}

size_t SchemaBounds::n_optional_of(const common_json & schema) const {
    if (!schema.contains("properties") || !schema.at("properties").is_object()) return 0;
    std::set<std::string> required;
    if (schema.contains("required") && schema.at("required").is_array()) {
        for (const auto & name : schema.at("required")) {
            if (name.is_string()) required.insert(name.get<std::string>());
        }
    }
    size_t n_optional = 0;
    for (const auto item : schema.at("properties").items()) n_optional += required.count(item.key()) == 0;
    return n_optional;
}

// Whatever the alternatives in an allOf describe is optional, and stands in one list.
size_t SchemaBounds::n_alternatives_of(const common_json & components) const {
    size_t n_optional = 0;
    auto add = [&](const common_json & alternatives) {
        if (!alternatives.is_array()) return;
        for (const auto & each : alternatives) {
            const auto reference = each.is_object() ? text_at(each, "$ref") : std::string();
            const auto * target = reference.empty() ? &each : target_of(reference);
            if (target && target->is_object() && target->contains("properties")) n_optional += target->at("properties").size();
            check_optional(n_optional);
        }
    };
    if (!components.is_array()) return 0;
    for (const auto & component : components) {
        if (!component.is_object()) continue;
        if (component.contains("oneOf")) add(component.at("oneOf"));
        else if (component.contains("anyOf")) add(component.at("anyOf"));
    }
    return n_optional;
}

// Resolves a reference as the converter does; nullptr where that finds nothing and says so.
const common_json * SchemaBounds::target_of(const std::string & reference) const {
    const common_json * target = &root_;
    const auto steps = string_split(reference, "/");
    for (size_t i = 1; i < steps.size(); i++) {
        if (target->is_object() && target->contains(steps[i])) {
            target = &target->at(steps[i]);
        } else if (target->is_array() && !steps[i].empty() && steps[i].size() < 8 &&
                   steps[i].find_first_not_of("0123456789") == std::string::npos &&
                   static_cast<size_t>(std::stoul(steps[i])) < target->size()) {
            target = &target->at(static_cast<size_t>(std::stoul(steps[i])));
        } else {
            return nullptr;
        }
    }
    return target;
}

}  // namespace svc
