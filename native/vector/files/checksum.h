// A checksum of many bytes at the speed of memory: four lanes of multiply and rotate, over words of 8 bytes. It tells damage, not
// intent: whoever can write the file can write the checksum too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace svc {

class Checksum {
  public:
    void add(const void * bytes, size_t size) {
        const auto * from = static_cast<const uint8_t *>(bytes);
        size_ += size;
        while (size > 0 && n_pending_ > 0) take_byte(from, size);
        for (; size >= sizeof(pending_); from += sizeof(pending_), size -= sizeof(pending_)) take_block(from);
        while (size > 0) take_byte(from, size);
    }

    // Of all that was added so far; more may be added to the original afterwards.
    uint64_t value() const {
        Checksum last = *this;
        std::memset(last.pending_ + last.n_pending_, 0, sizeof(last.pending_) - last.n_pending_);
        last.take_block(last.pending_);
        uint64_t sum = size_;
        for (const auto lane : last.lanes_) sum = mixed(sum ^ lane) + lane;
        return mixed(sum);
    }

  private:
    static uint64_t mixed(uint64_t word) {
        word = (word ^ word >> 32) * 0xd6e8feb86659fd93;
        return word ^ word >> 29;
    }

    void take_byte(const uint8_t *& from, size_t & size) {
        pending_[n_pending_++] = *from++;
        size--;
        if (n_pending_ < sizeof(pending_)) return;
        take_block(pending_);
        n_pending_ = 0;
    }

    void take_block(const uint8_t * from) {
        for (auto & lane : lanes_) {
            uint64_t word;
            std::memcpy(&word, from, sizeof(word));
            from += sizeof(word);
            lane = (lane ^ word) * 0x9e3779b97f4a7c15;
            lane = lane << 27 | lane >> 37;
        }
    }

    uint64_t lanes_[4] = {1, 2, 3, 4};
    uint64_t size_ = 0;
    uint8_t pending_[32] = {};
    size_t n_pending_ = 0;
};

}  // namespace svc
