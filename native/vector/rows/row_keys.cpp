#include "row_keys.h"

#include <utility>

#include "../../common/status.h"

namespace svc {

namespace {

constexpr size_t kLeastPlaces = 64;
constexpr size_t kNoPlace = std::numeric_limits<size_t>::max();

// Keys that differ by the size of the table are common, and would all land in one place.
size_t mixed(uint64_t key) {
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15;
    return key ^ key >> 29;
}

// At most half of the places are taken.
size_t places_for(size_t n_keys) {
    size_t n_places = kLeastPlaces;
    while (n_places < 2 * n_keys) n_places *= 2;
    return n_places;
}

}  // namespace

RowKeys::RowKeys(std::vector<uint64_t> keys) : keys_(std::move(keys)) {
    places_.assign(places_for(keys_.size()), kFree);
    for (uint32_t row = 0; row < count(); row++) {
        if (keys_[row] == kNoKey) continue;
        if (place_of(keys_[row]) != kNoPlace) throw StatusError("index_invalid", "the index file has a key twice");
        insert(keys_[row], row);
        n_alive_++;
    }
}

std::optional<uint32_t> RowKeys::find(uint64_t key) const {
    const auto place = place_of(key);
    if (place == kNoPlace) return std::nullopt;
    return places_[place];
}

size_t RowKeys::size_bytes() const { return keys_.capacity() * sizeof(uint64_t) + places_.capacity() * sizeof(uint32_t); }

void RowKeys::push(uint64_t key) {
    make_space();
    keys_.push_back(kNoKey);
    if (key == kNoKey) return;
    remove(key);
    keys_.back() = key;
    insert(key, count() - 1);
    n_alive_++;
}

bool RowKeys::remove(uint64_t key) {
    const auto place = place_of(key);
    if (place == kNoPlace) return false;
    keys_[places_[place]] = kNoKey;
    places_[place] = kGone;
    n_alive_--;
    return true;
}

size_t RowKeys::place_of(uint64_t key) const {
    if (places_.empty() || key == kNoKey) return kNoPlace;
    const size_t mask = places_.size() - 1;
    for (size_t place = mixed(key) & mask;; place = (place + 1) & mask) {
        const auto row = places_[place];
        if (row == kFree) return kNoPlace;
        if (row != kGone && keys_[row] == key) return place;
    }
}

void RowKeys::insert(uint64_t key, uint32_t row) {
    const size_t mask = places_.size() - 1;
    size_t place = mixed(key) & mask;
    while (places_[place] != kFree) place = (place + 1) & mask;
    places_[place] = row;
    n_taken_++;
}

void RowKeys::make_space() {
    // A search for a key ends at a free place, so some must stay.
    if (4 * (n_taken_ + 1) <= 3 * places_.size()) return;
    rebuild(places_for(size_t{n_alive_} + 1));
}

void RowKeys::rebuild(size_t n_places) {
    std::vector<uint32_t> fresh(n_places, kFree);
    places_.swap(fresh);
    n_taken_ = 0;
    for (uint32_t row = 0; row < count(); row++)
        if (keys_[row] != kNoKey) insert(keys_[row], row);
}

}  // namespace svc
