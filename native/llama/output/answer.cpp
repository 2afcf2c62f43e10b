#include "answer.h"

#include <algorithm>

#include "../model/model.h"
#include "../text/text.h"

namespace svc {

Answer::Answer(const Model & model, uint32_t job, uint8_t choice, std::shared_ptr<const AnswerSyntax> syntax,
               std::vector<std::string> stops)
    : model_(model), job_(job), choice_(choice), syntax_(std::move(syntax)), stops_(std::move(stops)) {
    if (!syntax_->plain) reader_.emplace(syntax_->parser, *syntax_->fields);
}

std::string Answer::piece(llama_token token) const { return model_.piece(token, syntax_->preserved.count(token) > 0); }

void Answer::add_logprobs(TokenLogprobs logprobs) { logprobs_.push_back({0, std::move(logprobs)}); }

bool Answer::push(llama_token token, Bytes & out) {
    text_ += piece(token);
    if (!logprobs_.empty()) logprobs_.back().end = text_.size();
    StopSearch::Match match;
    const size_t from = std::max(emitted_, searched_ - std::min(searched_, stops_.reach()));
    searched_ = text_.size();
    if (stops_.find(text_, from, match)) {
        stop_text_ = match.text;
        text_.resize(match.at);
        return true;
    }
    const size_t safe = text_.size() - stops_.held_back(text_);
    emit(complete_utf8(std::string_view(text_).substr(0, safe)), false, out);
    return ended_;
}

void Answer::finish(Finish reason, Bytes & out) {
    // An answer may end inside a character; without its other bytes it stands for nothing.
    text_.resize(complete_utf8(text_));
    emit(text_.size(), true, out);
    if (reader_ && !reader_->message().tool_calls.empty() && reason == Finish::Stop) reason = Finish::ToolCalls;
    out.record(job_, RecordKind::Finish, choice_, static_cast<uint16_t>(reason), stop_text_);
}

void Answer::emit(size_t end, bool final, Bytes & out) {
    emit_logprobs(final ? SIZE_MAX : end, out);
    if (end <= emitted_ && !final) return;
    if (reader_) {
        for (const auto & diff : reader_->read(std::string_view(text_).substr(0, end), final)) emit_diff(diff, out);
    } else {
        emit_text(RecordKind::Content, 0, std::string_view(text_).substr(emitted_, end - std::min(end, emitted_)), out);
    }
    emitted_ = std::max(emitted_, end);
}

void Answer::emit_diff(const common_chat_msg_diff & diff, Bytes & out) {
    if (!diff.reasoning_content_delta.empty()) emit_text(RecordKind::Reasoning, 0, diff.reasoning_content_delta, out);
    if (!diff.content_delta.empty()) emit_text(RecordKind::Content, 0, diff.content_delta, out);
    if (diff.tool_call_index == std::string::npos) return;
    if (syntax_->single_call && diff.tool_call_index > 0) {
        ended_ = true;
        return;
    }
    const auto index = static_cast<uint16_t>(diff.tool_call_index);
    const auto & call = diff.tool_call_delta;
    if (!call.name.empty()) {
        Bytes payload;
        payload.u32(static_cast<uint32_t>(call.id.size()));
        payload.text(call.id);
        payload.text(call.name);
        out.record(job_, RecordKind::ToolCall, choice_, index, payload.view());
    }
    if (!call.arguments.empty()) emit_text(RecordKind::ToolArguments, index, call.arguments, out);
}

void Answer::emit_text(RecordKind kind, uint16_t index, std::string_view text, Bytes & out) {
    if (text.empty()) return;
    scratch_.clear();
    append_json_body(scratch_, text);
    out.record(job_, kind, choice_, index, scratch_);
}

void Answer::emit_logprobs(size_t end, Bytes & out) {
    Bytes payload;
    uint32_t count = 0;
    while (!logprobs_.empty() && logprobs_.front().end <= end) {
        const auto & logprobs = logprobs_.front().logprobs;
        emit_entry(logprobs.chosen, payload);
        payload.u32(static_cast<uint32_t>(logprobs.top.size()));
        for (const auto & entry : logprobs.top) emit_entry(entry, payload);
        logprobs_.pop_front();
        count++;
    }
    if (count == 0) return;
    Bytes counted;
    counted.u32(count);
    counted.text(payload.view());
    out.record(job_, RecordKind::Logprobs, choice_, 0, counted.view());
}

void Answer::emit_entry(const TokenProbability & entry, Bytes & payload) const {
    const auto text = piece(entry.token);
    payload.i32(entry.token);
    payload.f32(entry.logprob);
    payload.u32(static_cast<uint32_t>(text.size()));
    payload.text(text);
}

}  // namespace svc
