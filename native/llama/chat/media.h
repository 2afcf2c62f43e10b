// Image and audio input through llama.cpp's mtmd library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../options/options.h"
#include "llama.h"
#include "mtmd.h"

namespace svc {

class Model;

struct ChunkDeleter {
    void operator()(mtmd_input_chunk * chunk) const { mtmd_input_chunk_free(chunk); }
};

// One image or sound in a prompt. It fills n_tokens cells of the KV cache and n_pos positions (M-RoPE: fewer).
struct MediaChunk {
    size_t begin;  // index of its first placeholder in the prompt's tokens
    size_t n_tokens;
    llama_pos n_pos;
    std::shared_ptr<mtmd_input_chunk> chunk;
};

// Tokenises a prompt in which media markers stand for `inputs`, in order. Throws StatusError unsupported or invalid_media.
void tokenize_with_media(const Model & model, const std::string & text, const std::vector<MediaOption> & inputs,
                         std::vector<llama_token> & tokens, std::vector<MediaChunk> & media);

}  // namespace svc
