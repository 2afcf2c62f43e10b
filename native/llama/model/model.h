// A loaded GGUF model: weights, tokenizer, chat template, adapters and projector. Shared by the engines that use it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../grammar/grammar_cache.h"
#include "../options/options.h"
#include "chat_format.h"
#include "control_texts.h"
#include "llama.h"
#include "load_arguments.h"
#include "mapped_file_guard.h"
#include "mtmd.h"

namespace svc {

struct ModelDeleter {
    void operator()(llama_model * model) const { llama_model_free(model); }
};

struct ProjectorDeleter {
    void operator()(mtmd_context * projector) const { mtmd_free(projector); }
};

class Model {
  public:
    // Returns false to abort. Called on the loading thread with 0 to 1.
    using Progress = std::function<bool(float)>;

    // Throws StatusError model_not_found, model_invalid, load_aborted or out_of_memory.
    static std::shared_ptr<Model> load(const LoadOptions & options, const Progress & progress);

    llama_model * raw() const { return model_.get(); }
    const llama_vocab * vocab() const { return llama_model_get_vocab(model_.get()); }
    int32_t n_vocab() const { return llama_vocab_n_tokens(vocab()); }
    bool vocab_only() const { return vocab_only_; }
    // Some of it lies on a device, and a device is lost.
    bool is_on_lost_device() const;
    // Nothing can be computed with it.
    bool weightless() const { return vocab_only_ || dry_run_; }
    // Bytes that a dry run took of the heap: the tokenizer, mostly.
    double heap_bytes() const { return heap_bytes_; }

    // Null for a model that is loaded for its vocabulary alone.
    const ChatFormat * chat_format() const { return chat_format_.get(); }
    // A model that chats has them.
    const ControlTexts & control_texts() const { return *control_texts_; }
    GrammarCache & grammars() const { return *grammars_; }
    mtmd_context * projector() const { return projector_.get(); }
    // Freed with the model.
    const std::map<std::string, llama_adapter_lora *> & loras() const { return loras_; }

    // Tokens that the text has at least, found without tokenising it; 0 where one token may stand for any text.
    size_t least_tokens(std::string_view text) const;
    // The beginning of a text that has so many tokens where the text has them: what is behind need not be tokenised to be cut
    // off.
    std::string_view beginning(std::string_view text, size_t n_tokens) const;
    std::vector<llama_token> tokenize(std::string_view text, bool add_special, bool parse_special) const;
    std::string detokenize(const std::vector<llama_token> & tokens, bool special) const;
    // Text of one token; special tokens have text only when `special`.
    std::string piece(llama_token token, bool special) const;
    std::string meta(const char * key) const;

    ~Model();

  private:
    Model() = default;
    void load_loras(const LoadOptions & options);
    void load_projector(const LoadOptions & options);

    std::vector<std::unique_ptr<MappedFileGuard>> guards_;  // outlive the mappings of model_
    std::unique_ptr<LoadArguments> arguments_;              // model_ points into them
    std::unique_ptr<llama_model, ModelDeleter> model_;
    std::unique_ptr<ChatFormat> chat_format_;
    std::unique_ptr<ControlTexts> control_texts_;
    std::unique_ptr<mtmd_context, ProjectorDeleter> projector_;
    std::unique_ptr<GrammarCache> grammars_;
    std::map<std::string, llama_adapter_lora *> loras_;
    bool vocab_only_ = false;
    bool dry_run_ = false;
    double heap_bytes_ = 0;
    size_t longest_token_ = 0;  // bytes
};

}  // namespace svc
