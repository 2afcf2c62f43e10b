// Reads one JSON object byte by byte (RFC 8259, strict, kMostJsonDepth levels at most) and tells up to where it is sound.
#pragma once

#include <string>
#include <string_view>

namespace svc {

class JsonScanner {
  public:
    enum class State { Open, Closed, Broken };

    // Takes the next bytes, up to the one that closes the object or breaks the syntax.
    State read(std::string_view bytes);
    // Bytes read so far that end neither inside a number, a literal or an escape, nor in white space.
    size_t n_settled() const { return n_settled_; }

  private:
    enum class Expect { Object, Value, ValueOrEnd, KeyOrEnd, Key, Colon, CommaOrEnd };
    enum class Inside { Nothing, String, Escape, Unicode, Number, Literal };

    bool push(char c);
    bool push_structure(char c);
    bool push_string(char c);
    bool push_number(char c);
    bool begin_value(char c);
    void end_value();
    bool close(char bracket);

    Expect expect_ = Expect::Object;
    Inside inside_ = Inside::Nothing;
    bool is_key_ = false;
    int n_hex_ = 0;
    std::string number_;
    std::string_view literal_;
    std::string open_;  // brackets
    bool closed_ = false;
    size_t n_read_ = 0;
    size_t n_settled_ = 0;
};

}  // namespace svc
