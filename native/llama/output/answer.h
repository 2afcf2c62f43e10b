// One choice's answer on its way out: token pieces become text, stop strings end it, the chat syntax splits it into content,
// reasoning and tool calls, and everything leaves as records.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../common/step_channel.h"
#include "../sampling/sampler.h"
#include "../text/stop_search.h"
#include "answer_syntax.h"
#include "chat_reader.h"

namespace svc {

enum class Finish : uint16_t { Stop = 0, Length = 1, ToolCalls = 2 };

struct TokenLogprobs {
    TokenProbability chosen;
    std::vector<TokenProbability> top;
};

class Answer {
  public:
    // `stops` end the answer where its content has one; `marks` do wherever they stand.
    Answer(const Model & model, uint32_t job, uint8_t choice, std::shared_ptr<const AnswerSyntax> syntax,
           std::vector<std::string> stops, std::vector<std::string> marks);

    // Adds a token's text. Returns true when a stop string or the one allowed tool call ended the answer; finish() must follow.
    bool push(llama_token token, Bytes & out);
    // Log probabilities of the token that the next push() adds.
    void add_logprobs(TokenLogprobs logprobs);
    // Writes what was held back, up to the last whole character, and the finish record.
    void finish(Finish reason, Bytes & out);

  private:
    struct PendingLogprobs {
        size_t end;  // offset in text_ behind the token
        TokenLogprobs logprobs;
    };

    void emit(size_t end, bool final, Bytes & out);
    void emit_diff(const common_chat_msg_diff & diff, Bytes & out);
    void emit_content(std::string_view added, bool final, Bytes & out);
    bool is_undecided(bool final);
    bool ends_inside_call() const;
    void emit_text(RecordKind kind, uint16_t index, std::string_view text, Bytes & out);
    void emit_logprobs(size_t end, Bytes & out);
    void emit_entry(const TokenProbability & entry, Bytes & payload) const;
    std::string piece(llama_token token) const;

    const Model & model_;
    uint32_t job_;
    uint8_t choice_;
    std::shared_ptr<const AnswerSyntax> syntax_;
    StopSearch marks_;  // and the stop strings where all of the text is content
    StopSearch stops_;  // of content that is read out of the text
    std::string text_;
    size_t searched_ = 0;
    size_t emitted_ = 0;
    std::string content_;  // its end, as far back as a stop string may begin
    size_t content_emitted_ = 0;
    bool decided_;  // whether the text is read or is content as it is
    std::string stop_text_;
    bool ended_ = false;
    std::optional<ChatReader> reader_;  // unless the syntax is plain
    std::deque<PendingLogprobs> logprobs_;
    std::string scratch_;
};

}  // namespace svc
