#include "allowed_keys.h"

namespace svc {

AllowedRows::AllowedRows(const AllowedKeys & allowed, const Rows & rows)
    : rows_(rows), is_all_(std::holds_alternative<AllKeys>(allowed)) {
    if (is_all_) {
        count_ = rows.n_alive();
        return;
    }
    bits_.resize((rows.count() + 63) / 64);
    if (const auto * list = std::get_if<std::vector<uint64_t>>(&allowed)) {
        for (const auto key : *list)
            if (const auto row = rows.find(key)) allow(*row);
        return;
    }
    const auto & words = std::get<KeyBits>(allowed).words;
    for (uint32_t row = 0; row < rows.count(); row++) {
        const auto key = rows.key(row);
        if (key / 32 < words.size() && (words[key / 32] >> key % 32 & 1)) allow(row);
    }
}

void AllowedRows::allow(uint32_t row) {
    auto & word = bits_[row / 64];
    const auto bit = uint64_t{1} << row % 64;
    if (word & bit) return;
    word |= bit;
    count_++;
}

}  // namespace svc
