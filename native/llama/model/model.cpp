#include "model.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <thread>

#include "../../common/freed_heap.h"
#include "../../common/status.h"
#include "backend.h"
#include "device_fault.h"
#include "llama-ext.h"
#include "memory_use.h"

namespace svc {

namespace {

// A word that a vocabulary of words does not know may be longer, and is one token all the same: what is cut of it is no loss.
constexpr size_t kLongWordBytes = 64;

void require_file(const std::string & path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) throw StatusError("model_not_found", "no file at " + path);
    if (!S_ISREG(info.st_mode)) throw StatusError("model_not_found", path + " is not a regular file");
}

StatusError invalid(const std::string & path) {
    auto reason = take_error_log();
    if (reason.empty()) reason = "llama.cpp gave no reason";
    return StatusError("model_invalid", path + " cannot be loaded: " + reason);
}

struct LoadState {
    const Model::Progress & progress;
    bool aborted = false;
};

bool on_progress(float fraction, void * user_data) {
    auto & state = *static_cast<LoadState *>(user_data);
    state.aborted = !state.progress(fraction);
    return !state.aborted;
}

// Builds the model's graph without evaluating it: upstream checks some hyper-parameters only there.
void plan_small_context(const Model & model) {
    auto params = llama_context_default_params();
    params.n_ctx = 64;
    params.n_batch = 64;
    params.n_ubatch = 64;
    std::unique_ptr<llama_context, decltype(&llama_free)> context(llama_init_from_model(model.raw(), params), llama_free);
    if (!context) throw StatusError("model_invalid", "no context fits this model: " + take_error_log());
}

// Bytes, by what the file says of each token, which is never shorter than what the token stands for. 0 for tokenizers that drop
// white space or make one unknown token of a whole word.
size_t longest_token_of(const llama_vocab * vocab) {
    const auto type = llama_vocab_type(vocab);
    if (type != LLAMA_VOCAB_TYPE_SPM && type != LLAMA_VOCAB_TYPE_BPE) return 0;
    size_t longest = 0;
    for (llama_token token = 0; token < llama_vocab_n_tokens(vocab); token++)
        longest = std::max(longest, std::strlen(llama_vocab_get_text(vocab, token)));
    return longest;
}

// Words that begin with an ASCII letter or digit behind a space. To WordPiece each is a token at least.
size_t n_plain_words(std::string_view text) {
    size_t count = 0;
    for (size_t i = 1; i < text.size(); i++)
        count += text[i - 1] == ' ' && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
    return count;
}

}  // namespace

Model::~Model() {
    if (!is_on_lost_device()) return;
    for (auto & guard : guards_) keep_forever(guard);
    keep_forever(arguments_);
    keep_forever(projector_);
    keep_forever(model_);
}

bool Model::is_on_lost_device() const { return is_device_lost() && model_ && llama_model_n_devices(model_.get()) > 0; }

std::shared_ptr<Model> Model::load(const LoadOptions & options, const Progress & progress) {
    require_file(options.path);
    const DeviceFaultScope scope;
    take_error_log();
    LoadState state{progress};
    use_numa(options.numa);
    auto arguments = std::make_unique<LoadArguments>(options);
    arguments->params().progress_callback = on_progress;
    arguments->params().progress_callback_user_data = &state;
    std::shared_ptr<Model> model(new Model(), [](Model * freed) {
        delete freed;
        release_freed_heap();
    });
    model->vocab_only_ = options.vocab_only;
    model->dry_run_ = options.dry_run;
    for (const auto & part : MappedFileGuard::parts_of(options.path))
        model->guards_.push_back(std::make_unique<MappedFileGuard>(part));
    const double heap_before = heap_in_use();
    model->model_.reset(llama_model_load_from_file(options.path.c_str(), arguments->params()));
    if (state.aborted) throw StatusError("load_aborted", "loading " + options.path + " was aborted");
    if (!model->model_) throw_device_fault();
    if (!model->model_) throw invalid(options.path);
    model->arguments_ = std::move(arguments);
    model->longest_token_ = longest_token_of(model->vocab());
    model->grammars_ = std::make_unique<GrammarCache>(model->vocab());
    if (options.vocab_only) return model;
    if (options.dry_run) plan_small_context(*model);
    try {
        model->chat_format_ = std::make_unique<ChatFormat>(model->raw(), options.chat_template);
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & error) {
        throw StatusError("template_failed",
                          options.path +
                              " has a chat template that cannot be parsed (a newer conversion of the model may have a " +
                              "better one): " + error.what());
    }
    model->control_texts_ = std::make_unique<ControlTexts>(model->vocab());
    model->heap_bytes_ = std::max(0.0, heap_in_use() - heap_before);
    if (options.dry_run) return model;
    model->load_loras(options);
    model->load_projector(options);
    return model;
}

void Model::load_loras(const LoadOptions & options) {
    for (const auto & option : options.loras) {
        require_file(option.path);
        auto & kept = loras_[option.name];
        auto * adapter = llama_adapter_lora_init(raw(), option.path.c_str());
        if (!adapter) throw invalid(option.path);
        kept = adapter;
    }
}

void Model::load_projector(const LoadOptions & options) {
    if (options.projector_path.empty()) return;
    require_file(options.projector_path);
    auto params = mtmd_context_params_default();
    params.use_gpu = options.n_gpu_layers != 0;
    params.print_timings = false;
    // More threads than cores wait for each other.
    params.n_threads = std::min(params.n_threads, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    projector_.reset(mtmd_init_from_file(options.projector_path.c_str(), raw(), params));
    if (!projector_) throw invalid(options.projector_path);
}

size_t Model::least_tokens(std::string_view text) const {
    if (longest_token_ > 0) return (text.size() + longest_token_ - 1) / longest_token_;
    return llama_vocab_type(vocab()) == LLAMA_VOCAB_TYPE_WPM ? n_plain_words(text) : 0;
}

std::string_view Model::beginning(std::string_view text, size_t n_tokens) const {
    const size_t n_most = n_tokens * std::max<size_t>(longest_token_, kLongWordBytes);
    if (text.size() <= n_most) return text;
    size_t size = n_most;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) size--;
    return text.substr(0, size);
}

std::vector<llama_token> Model::tokenize(std::string_view text, bool add_special, bool parse_special) const {
    const auto length = static_cast<int32_t>(text.size());
    std::vector<llama_token> tokens(text.size() + 2);
    int32_t count = llama_tokenize(vocab(), text.data(), length, tokens.data(), static_cast<int32_t>(tokens.size()), add_special,
                                   parse_special);
    if (count < 0) {
        tokens.resize(static_cast<size_t>(-count));
        count = llama_tokenize(vocab(), text.data(), length, tokens.data(), static_cast<int32_t>(tokens.size()), add_special,
                               parse_special);
    }
    if (count < 0) throw StatusError("invalid_argument", "the text has too many tokens");
    tokens.resize(static_cast<size_t>(count));
    tokens.shrink_to_fit();  // it may wait for long
    return tokens;
}

std::string Model::detokenize(const std::vector<llama_token> & tokens, bool special) const {
    for (auto token : tokens) {
        if (token < 0 || token >= n_vocab()) {
            throw StatusError("invalid_argument", "token " + std::to_string(token) + " is not in the vocabulary of " +
                                                      std::to_string(n_vocab()) + " tokens");
        }
    }
    std::string text(tokens.size() * 4 + 16, '\0');
    const auto count = static_cast<int32_t>(tokens.size());
    int32_t length =
        llama_detokenize(vocab(), tokens.data(), count, text.data(), static_cast<int32_t>(text.size()), false, special);
    if (length < 0) {
        text.resize(static_cast<size_t>(-length));
        length = llama_detokenize(vocab(), tokens.data(), count, text.data(), static_cast<int32_t>(text.size()), false, special);
    }
    text.resize(static_cast<size_t>(std::max(length, 0)));
    return text;
}

std::string Model::piece(llama_token token, bool special) const {
    char small[64];
    int32_t length = llama_token_to_piece(vocab(), token, small, sizeof small, 0, special);
    if (length >= 0) return {small, static_cast<size_t>(length)};
    std::string large(static_cast<size_t>(-length), '\0');
    length = llama_token_to_piece(vocab(), token, large.data(), static_cast<int32_t>(large.size()), 0, special);
    large.resize(static_cast<size_t>(std::max(length, 0)));
    return large;
}

std::string Model::meta(const char * key) const {
    char value[1024];
    return llama_model_meta_val_str(raw(), key, value, sizeof value) < 0 ? "" : std::string(value);
}

}  // namespace svc
