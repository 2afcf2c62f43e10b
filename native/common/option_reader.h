// Reads members of a JS options object with type and range checks. Absent, undefined and null leave the default.
#pragma once

#include <cmath>
#include <limits>
#include <string>

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
    static std::string plain(double number) {
        auto text = std::to_string(number);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
        return text;
    }

    const Napi::Object & from_;
};

}  // namespace svc
