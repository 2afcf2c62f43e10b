#include "media.h"

#include <cstring>

#include "../../common/status.h"
#include "../model/model.h"

namespace svc {

namespace {

struct BitmapDeleter {
    void operator()(mtmd_bitmap * bitmap) const { mtmd_bitmap_free(bitmap); }
};
using BitmapPtr = std::unique_ptr<mtmd_bitmap, BitmapDeleter>;

struct ChunksDeleter {
    void operator()(mtmd_input_chunks * chunks) const { mtmd_input_chunks_free(chunks); }
};

// Shorter sounds are shorter than what an encoder looks at, seconds.
constexpr double kLeastSound = 0.1;

void require_image(const Model & model) {
    if (!mtmd_support_vision(model.projector())) throw StatusError("unsupported", "this model's projector reads no images");
}

void require_sound(const Model & model, size_t n_samples) {
    if (!mtmd_support_audio(model.projector())) throw StatusError("unsupported", "this model's projector hears no sounds");
    if (static_cast<double>(n_samples) < kLeastSound * mtmd_get_audio_sample_rate(model.projector()))
        throw StatusError("invalid_media", "a sound is too short: a tenth of a second is the least");
}

BitmapPtr bitmap_of(const Model & model, const MediaOption & input) {
    if (!input.is_audio) {
        require_image(model);
        return BitmapPtr(
            mtmd_bitmap_init(input.width, input.height, reinterpret_cast<const unsigned char *>(input.bytes.data())));
    }
    std::vector<float> samples(input.bytes.size() / sizeof(float));
    require_sound(model, samples.size());
    std::memcpy(samples.data(), input.bytes.data(), samples.size() * sizeof(float));
    return BitmapPtr(mtmd_bitmap_init_from_audio(samples.size(), samples.data()));
}

}  // namespace

void tokenize_with_media(const Model & model, const std::string & text, const std::vector<MediaOption> & inputs,
                         std::vector<llama_token> & tokens, std::vector<MediaChunk> & media) {
    if (!model.projector()) throw StatusError("unsupported", "this model has no projector and takes neither images nor sounds");
    std::vector<BitmapPtr> bitmaps;
    std::vector<const mtmd_bitmap *> raw;
    for (const auto & input : inputs) {
        bitmaps.push_back(bitmap_of(model, input));
        raw.push_back(bitmaps.back().get());
    }
    std::unique_ptr<mtmd_input_chunks, ChunksDeleter> chunks(mtmd_input_chunks_init());
    mtmd_input_text input{text.c_str(), text.size(), /*add_special=*/true, /*parse_special=*/true};
    const int32_t result = mtmd_tokenize(model.projector(), chunks.get(), &input, raw.data(), raw.size());
    if (result == 1) throw StatusError("invalid_media", "the number of images and sounds does not match the messages");
    if (result != 0) throw StatusError("invalid_media", "an image or sound cannot be prepared for this model");
    for (size_t i = 0; i < mtmd_input_chunks_size(chunks.get()); i++) {
        const auto * chunk = mtmd_input_chunks_get(chunks.get(), i);
        if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_TEXT) {
            size_t count = 0;
            const auto * chunk_tokens = mtmd_input_chunk_get_tokens_text(chunk, &count);
            tokens.insert(tokens.end(), chunk_tokens, chunk_tokens + count);
            continue;
        }
        const size_t count = mtmd_input_chunk_get_n_tokens(chunk);
        media.push_back({tokens.size(), count, mtmd_input_chunk_get_n_pos(chunk),
                         std::shared_ptr<mtmd_input_chunk>(mtmd_input_chunk_copy(chunk), ChunkDeleter{})});
        tokens.insert(tokens.end(), count, LLAMA_TOKEN_NULL);
    }
}

}  // namespace svc
