#include "kv_transfer.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "../../common/memory_wait.h"
#include "../tuning/tuning.h"
#include "ggml-backend.h"
#include "llama-io.h"
#include "llama-memory.h"

namespace svc {

class KvTransfer::Recorder : public llama_io_write_i {
  public:
    Recorder(std::vector<uint8_t> & meta, std::vector<Segment> & segments) : meta_(meta), segments_(segments) {}

    void write(const void * src, size_t size) override {
        const auto * bytes = static_cast<const uint8_t *>(src);
        meta_.insert(meta_.end(), bytes, bytes + size);
    }
    void write_tensor(ggml_tensor * tensor, size_t offset, size_t size) override { segments_.push_back({tensor, offset, size}); }
    size_t n_bytes() override { return meta_.size(); }

  private:
    std::vector<uint8_t> & meta_;
    std::vector<Segment> & segments_;
};

class KvTransfer::Player : public llama_io_read_i {
  public:
    Player(const std::vector<uint8_t> & meta, std::vector<Segment> & segments) : meta_(meta), segments_(segments) {}

    void read(void * dst, size_t size) override {
        if (size > meta_.size() - at_) throw std::runtime_error("the saved state ends too early");
        std::memcpy(dst, meta_.data() + at_, size);
        at_ += size;
    }
    void read_tensor(ggml_tensor * tensor, size_t offset, size_t size) override { segments_.push_back({tensor, offset, size}); }
    size_t n_bytes() override { return at_; }

  private:
    const std::vector<uint8_t> & meta_;
    std::vector<Segment> & segments_;
    size_t at_ = 0;
};

std::pair<const KvTransfer::Segment *, size_t> KvTransfer::Cursor::take(size_t size) {
    const auto & segment = segments[at];
    const size_t offset = segment.offset + done;
    done += size;
    if (done == segment.size) {
        done = 0;
        at++;
    }
    return {&segment, offset};
}

std::unique_ptr<KvTransfer> KvTransfer::save(llama_context * context, llama_seq_id from) {
    std::unique_ptr<KvTransfer> transfer(new KvTransfer(context));
    transfer->saved_ = std::make_shared<KvState>();
    Recorder recorder(transfer->saved_->meta, transfer->from_.segments);
    llama_get_memory(context)->state_write(recorder, from, 0);
    for (const auto & segment : transfer->from_.segments) transfer->n_bytes_ += segment.size;
    return transfer;
}

std::unique_ptr<KvTransfer> KvTransfer::restore(llama_context * context, llama_seq_id to, std::shared_ptr<const KvState> state) {
    std::unique_ptr<KvTransfer> transfer(new KvTransfer(context));
    transfer->n_bytes_ = state->n_data;
    transfer->play(to, state->meta);
    transfer->restored_ = std::move(state);
    return transfer;
}

std::unique_ptr<KvTransfer> KvTransfer::copy(llama_context * context, llama_seq_id from, llama_seq_id to) {
    auto transfer = save(context, from);
    transfer->play(to, transfer->saved_->meta);
    transfer->saved_.reset();
    return transfer;
}

void KvTransfer::copy_whole(llama_context * context, llama_seq_id from, llama_seq_id to) {
    auto * memory = llama_get_memory(context);
    memory->seq_cp(from, to, -1, -1);
    const auto update = memory->init_update(context, false);
    if (update->get_status() == LLAMA_MEMORY_STATUS_SUCCESS && !update->apply())
        throw std::runtime_error("a sequence could not be copied");
}

// Lets the cache take the cells that the state describes, and notes where they lie.
void KvTransfer::play(llama_seq_id to, const std::vector<uint8_t> & meta) {
    auto * memory = llama_get_memory(context_);
    Player player(meta, to_.segments);
    memory->state_read(player, to, 0);
    size_t n_bytes = 0;
    for (const auto & segment : to_.segments) n_bytes += segment.size;
    if (n_bytes == n_bytes_ && player.n_bytes() == meta.size()) return;
    memory->seq_rm(to, -1, -1);
    throw std::runtime_error("the saved state does not fit this cache");
}

bool KvTransfer::is_host() const {
    const auto & segments = from_.segments.empty() ? to_.segments : from_.segments;
    const auto * tensor = segments.empty() ? nullptr : segments.front().tensor;
    if (!tensor) return true;
    return ggml_backend_buffer_is_host(tensor->view_src ? tensor->view_src->buffer : tensor->buffer);
}

bool KvTransfer::advance(Clock::time_point until, RowPool & pool) {
    llama_synchronize(context_);
    if (saved_ && !saved_->data) {
        saved_->n_data = n_bytes_;
        saved_->data.reset(new uint8_t[n_bytes_]);
    }
    const size_t n_most = is_host() ? kTuning.copy_round_pieces : 1;
    std::vector<Piece> pieces;
    // One round is made at least, however late it is.
    while (n_done_ < n_bytes_) {
        pieces.clear();
        while (pieces.size() < n_most && n_done_ < n_bytes_) pieces.push_back(take_piece());
        pool.run(pieces.size(), [&](size_t i) { copy(pieces[i]); });
        if (n_done_ < n_bytes_ && Clock::now() >= until) return false;
    }
    return true;
}

KvTransfer::Piece KvTransfer::take_piece() {
    size_t size = kTuning.copy_piece_bytes;
    if (!restored_) size = std::min(size, from_.left());
    if (!saved_) size = std::min(size, to_.left());
    Piece piece{nullptr, 0, nullptr, 0, n_done_, std::min(size, n_bytes_ - n_done_)};
    if (!restored_) std::tie(piece.from, piece.from_offset) = from_.take(piece.size);
    if (!saved_) std::tie(piece.to, piece.to_offset) = to_.take(piece.size);
    n_done_ += piece.size;
    return piece;
}

void KvTransfer::copy(const Piece & piece) const {
    if (!piece.to) {
        ggml_backend_tensor_get(piece.from->tensor, saved_->data.get() + piece.at, piece.from_offset, piece.size);
        return;
    }
    const uint8_t * bytes = restored_ ? restored_->data.get() + piece.at : nullptr;
    thread_local std::vector<uint8_t> between;
    if (!bytes) {
        // Nothing may be thrown on this thread.
        with_memory([] { between.resize(kTuning.copy_piece_bytes); });
        ggml_backend_tensor_get(piece.from->tensor, between.data(), piece.from_offset, piece.size);
        bytes = between.data();
    }
    ggml_backend_tensor_set(piece.to->tensor, bytes, piece.to_offset, piece.size);
}

}  // namespace svc
