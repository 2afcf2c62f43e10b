// A UTF-8 character that arrives byte by byte, as tokens of byte-level vocabularies end inside characters. Strict (RFC 3629):
// overlong forms, surrogates and values above U+10FFFF are refused with the first byte that makes them certain.
#pragma once

#include <algorithm>
#include <cstdint>

namespace svc {

struct Utf8Partial {
    uint32_t value = 0;  // bits so far
    uint8_t n_remain = 0;
    uint8_t length = 0;

    bool none() const { return n_remain == 0; }

    // Lowest and highest code point that the character can still become; nothing is possible when low > high.
    uint32_t low() const {
        static constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        return std::max(value << (6 * n_remain), least[length]);
    }
    uint32_t high() const {
        const uint32_t high = (value << (6 * n_remain)) | ((1u << (6 * n_remain)) - 1);
        return std::min<uint32_t>(high, 0x10FFFF);
    }

    // Takes the next byte. False when it cannot follow; a whole character is there when none() holds again.
    bool push(uint8_t byte) {
        if (n_remain == 0) return begin(byte);
        if ((byte & 0xC0) != 0x80) return false;
        value = (value << 6) | (byte & 0x3F);
        n_remain--;
        return possible();
    }

  private:
    bool begin(uint8_t byte) {
        if (byte < 0x80) *this = {byte, 0, 1};
        else if (byte >= 0xC2 && byte < 0xE0) *this = {byte & 0x1Fu, 1, 2};
        else if (byte >= 0xE0 && byte < 0xF0) *this = {byte & 0x0Fu, 2, 3};
        else if (byte >= 0xF0 && byte < 0xF5) *this = {byte & 0x07u, 3, 4};
        else return false;
        return true;
    }

    bool possible() const {
        const uint32_t low = this->low(), high = this->high();
        return low <= high && !(low >= 0xD800 && high <= 0xDFFF);
    }
};

}  // namespace svc
