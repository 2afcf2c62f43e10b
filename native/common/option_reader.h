// Reads members of a JS options object with type and range checks. Absent, undefined and null leave the default.
#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "napi_setup.h"
#include "staged_bytes.h"
#include "status.h"

namespace svc {

class OptionReader {
  public:
    explicit OptionReader(const Napi::Object & from) : from_(from) {}

    bool has(const char * name) const {
        auto value = from_.Get(name);
        return !value.IsUndefined() && !value.IsNull();
    }

    template <typename T> void integer(const char * name, T & into, double low, double high) const {
        if (!has(name)) return;
        auto value = from_.Get(name);
        if (!value.IsNumber()) refuse(name, "a whole number");
        double number = value.As<Napi::Number>().DoubleValue();
        if (!(number >= low && number <= high) || number != std::floor(number)) {
            refuse(name, "a whole number from " + plain(low) + " to " + plain(high));
        }
        into = static_cast<T>(number);
    }

    void number(const char * name, float & into, double low, double high) const {
        if (!has(name)) return;
        auto value = from_.Get(name);
        double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
        if (!(number >= low && number <= high)) refuse(name, "a number from " + plain(low) + " to " + plain(high));
        into = static_cast<float>(number);
    }

    void boolean(const char * name, bool & into) const {
        if (!has(name)) return;
        auto value = from_.Get(name);
        if (!value.IsBoolean()) refuse(name, "true or false");
        into = value.As<Napi::Boolean>().Value();
    }

    void string(const char * name, std::string & into) const {
        if (!has(name)) return;
        auto value = from_.Get(name);
        if (!value.IsString()) refuse(name, "a string");
        into = value.As<Napi::String>().Utf8Value();
    }

    // Text that may be long: a string, or its UTF-8 bytes.
    void text(const char * name, std::string & into) const {
        if (has(name)) into = StagedBytes::take(from_.Get(name), name);
    }

    // One of some words.
    template <typename T> using Choices = std::initializer_list<std::pair<const char *, T>>;
    template <typename T> void choice(const char * name, T & into, Choices<T> all) const {
        if (!has(name)) return;
        auto value = from_.Get(name);
        into = find_choice(name, value, all);
    }

    // Several of them, in an order; each may be named once.
    template <typename T> void choices(const char * name, std::vector<T> & into, Choices<T> all) const {
        if (!has(name)) return;
        std::vector<T> chosen;
        array(name, static_cast<uint32_t>(all.size()), [&](const Napi::Value & value) {
            chosen.push_back(find_choice(name, value, all));
            for (size_t i = 0; i + 1 < chosen.size(); i++)
                if (chosen[i] == chosen.back()) refuse(name, "a list that names each only once");
        });
        into = std::move(chosen);
    }

    // Without NUL characters, where the C strings that they become would end.
    void texts(const char * name, std::vector<std::string> & into, uint32_t most, size_t most_bytes) const {
        if (!has(name)) return;
        into.clear();
        array(name, most, [&](const Napi::Value & value) {
            if (!value.IsString()) refuse(name, "an array of strings");
            auto text = value.As<Napi::String>().Utf8Value();
            if (text.empty() || text.size() > most_bytes || text.find('\0') != std::string::npos)
                refuse(name, "strings of 1 to " + std::to_string(most_bytes) + " bytes without NUL characters");
            into.push_back(std::move(text));
        });
    }

    void numbers(const char * name, std::vector<float> & into, uint32_t most, double low, double high) const {
        if (!has(name)) return;
        into.clear();
        array(name, most, [&](const Napi::Value & value) {
            const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
            if (!(number >= low && number <= high)) refuse(name, "numbers from " + plain(low) + " to " + plain(high));
            into.push_back(static_cast<float>(number));
        });
    }

    Napi::Object object(const char * name) const {
        auto value = from_.Get(name);
        if (!value.IsObject()) refuse(name, "an object");
        return value.As<Napi::Object>();
    }

    // Calls `each` with every element; absent means none.
    template <typename Each> void array(const char * name, uint32_t most, Each && each) const {
        if (!has(name)) return;
        auto value = from_.Get(name);
        if (!value.IsArray()) refuse(name, "an array");
        auto list = value.As<Napi::Array>();
        if (list.Length() > most) refuse(name, "an array of at most " + std::to_string(most) + " elements");
        for (uint32_t i = 0; i < list.Length(); i++) each(list.Get(i));
    }

    [[noreturn]] static void refuse(const std::string & name, const std::string & accepted) {
        throw StatusError("invalid_argument", "'" + name + "' must be " + accepted);
    }

  private:
    template <typename T> static T find_choice(const char * name, const Napi::Value & value, Choices<T> all) {
        const auto text = value.IsString() ? value.As<Napi::String>().Utf8Value() : std::string();
        std::string names;
        for (const auto & [word, constant] : all) {
            if (text == word) return constant;
            names += (names.empty() ? "one of " : ", ") + std::string(word);
        }
        refuse(name, names);
    }

    static std::string plain(double number) {
        auto text = std::to_string(number);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
        return text;
    }

    const Napi::Object & from_;
};

}  // namespace svc
