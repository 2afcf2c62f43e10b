#include "media.h"

#include "../common/status.h"
#include "model.h"
#include "mtmd-helper.h"

namespace svc {

namespace {

struct BitmapDeleter {
    void operator()(mtmd_bitmap * bitmap) const { mtmd_bitmap_free(bitmap); }
};
using BitmapPtr = std::unique_ptr<mtmd_bitmap, BitmapDeleter>;

struct ChunksDeleter {
    void operator()(mtmd_input_chunks * chunks) const { mtmd_input_chunks_free(chunks); }
};

BitmapPtr decode(const Model & model, const std::string & file, size_t index) {
    const auto * bytes = reinterpret_cast<const unsigned char *>(file.data());
    auto wrapper = mtmd_helper_bitmap_init_from_buf(model.projector(), bytes, file.size(), false, mtmd_helper_init_opt_default());
    if (wrapper.video_ctx) mtmd_helper_video_free(wrapper.video_ctx);
    if (!wrapper.bitmap) {
        throw StatusError("invalid_media",
                          "file " + std::to_string(index + 1) + " cannot be read; accepted are PNG, JPEG, BMP and GIF images");
    }
    return BitmapPtr(wrapper.bitmap);
}

}  // namespace

void tokenize_with_media(const Model & model, const std::string & text, const std::vector<std::string> & files,
                         std::vector<llama_token> & tokens, std::vector<MediaChunk> & media) {
    if (!model.projector()) throw StatusError("unsupported", "this model has no projector and cannot read images");
    std::vector<BitmapPtr> bitmaps;
    std::vector<const mtmd_bitmap *> raw;
    for (size_t i = 0; i < files.size(); i++) {
        bitmaps.push_back(decode(model, files[i], i));
        raw.push_back(bitmaps.back().get());
    }
    std::unique_ptr<mtmd_input_chunks, ChunksDeleter> chunks(mtmd_input_chunks_init());
    mtmd_input_text input{text.c_str(), text.size(), /*add_special=*/true, /*parse_special=*/true};
    const int32_t result = mtmd_tokenize(model.projector(), chunks.get(), &input, raw.data(), raw.size());
    if (result == 1) throw StatusError("invalid_media", "the number of images does not match the messages");
    if (result != 0) throw StatusError("invalid_media", "an image cannot be prepared for this model");
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
