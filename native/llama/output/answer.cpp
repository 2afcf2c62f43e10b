#include "answer.h"

#include <algorithm>

#include "../model/model.h"
#include "../text/text.h"

namespace svc {

namespace {

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string> & b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

Answer::Answer(const Model & model, uint32_t job, uint8_t choice, std::shared_ptr<const AnswerSyntax> syntax,
               std::vector<std::string> stops, std::vector<std::string> marks)
    : model_(model),
      job_(job),
      choice_(choice),
      syntax_(std::move(syntax)),
      marks_(syntax_->plain ? joined(stops, marks) : std::move(marks)),
      stops_(syntax_->plain ? std::vector<std::string>() : std::move(stops)),
      decided_(syntax_->call_begins.empty()) {
    if (!syntax_->plain) reader_.emplace(syntax_->parser, *syntax_->fields);
}

std::string Answer::piece(llama_token token) const { return model_.piece(token, syntax_->preserved.count(token) > 0); }

void Answer::add_logprobs(TokenLogprobs logprobs) { logprobs_.push_back({0, std::move(logprobs)}); }

bool Answer::push(llama_token token, Bytes & out) {
    text_ += piece(token);
    if (!logprobs_.empty()) logprobs_.back().end = text_.size();
    StopSearch::Match match;
    const size_t from = std::max(emitted_, searched_ - std::min(searched_, marks_.reach()));
    searched_ = text_.size();
    if (marks_.find(text_, from, match)) {
        stop_text_ = match.text;
        text_.resize(match.at);
        return true;
    }
    const size_t safe = text_.size() - marks_.held_back(text_);
    emit(complete_utf8(std::string_view(text_).substr(0, safe)), false, out);
    return ended_;
}

void Answer::finish(Finish reason, Bytes & out) {
    // An answer may end inside a character; without its other bytes it stands for nothing.
    text_.resize(complete_utf8(text_));
    emit(text_.size(), true, out);
    if (reader_ && !reader_->message().tool_calls.empty() && reason == Finish::Stop && !ends_inside_call())
        reason = Finish::ToolCalls;
    out.record(job_, RecordKind::Finish, choice_, static_cast<uint16_t>(reason), stop_text_);
}

void Answer::emit(size_t end, bool final, Bytes & out) {
    emit_logprobs(final ? SIZE_MAX : end, out);
    if (end <= emitted_ && !final) return;
    if (is_undecided(final)) return;
    if (reader_) {
        for (const auto & diff : reader_->read(std::string_view(text_).substr(0, end), final)) {
            if (!ended_) emit_diff(diff, out);
        }
        if (final && !ended_) emit_content("", true, out);
    } else {
        emit_content(std::string_view(text_).substr(emitted_, end - std::min(end, emitted_)), final, out);
    }
    emitted_ = std::max(emitted_, end);
}

// Where the answer is calls or a text of its own form, its first characters tell which.
bool Answer::is_undecided(bool final) {
    if (decided_) return false;
    const size_t begin = text_.find_first_not_of(" \t\r\n");
    const auto text = std::string_view(text_).substr(std::min(begin, text_.size()));
    for (const auto & mark : syntax_->call_begins) {
        const size_t n_common = std::min(text.size(), mark.size());
        if (text.substr(0, n_common) != std::string_view(mark).substr(0, n_common)) continue;
        if (n_common < mark.size() && !final) return true;
        decided_ = true;
        if (n_common == mark.size()) return false;
    }
    decided_ = true;
    reader_.reset();
    return false;
}

// What is cut off in its arguments is no call. One without arguments is.
bool Answer::ends_inside_call() const {
    const auto & calls = reader_->message().tool_calls;
    const auto & arguments = syntax_->single_call ? calls.front().arguments : calls.back().arguments;
    if (arguments.empty()) return false;
    try {
        common_json::parse(arguments);
        return false;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception &) {
        return true;
    }
}

// Holds back what may be the beginning of a stop string.
void Answer::emit_content(std::string_view added, bool final, Bytes & out) {
    const size_t from = std::max(content_emitted_, content_.size() - std::min(content_.size(), stops_.reach()));
    content_ += added;
    StopSearch::Match match;
    size_t end = content_.size();
    if (stops_.find(content_, from, match)) {
        stop_text_ = match.text;
        ended_ = true;
        end = match.at;
    } else if (!final) {
        end = complete_utf8(std::string_view(content_).substr(0, end - stops_.held_back(content_)));
    }
    if (end > content_emitted_)
        emit_text(RecordKind::Content, 0, std::string_view(content_).substr(content_emitted_, end - content_emitted_), out);
    content_emitted_ = std::max(content_emitted_, end);
    // An answer may be megabytes.
    const size_t n_read = content_emitted_ - std::min(content_emitted_, stops_.reach());
    content_.erase(0, n_read);
    content_emitted_ -= n_read;
}

void Answer::emit_diff(const common_chat_msg_diff & diff, Bytes & out) {
    if (!diff.reasoning_content_delta.empty()) emit_text(RecordKind::Reasoning, 0, diff.reasoning_content_delta, out);
    if (!diff.content_delta.empty()) emit_content(diff.content_delta, false, out);
    if (ended_ || diff.tool_call_index == std::string::npos) return;
    emit_content("", true, out);
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
