#include "answer_writer.h"

#include <algorithm>

#include "../../common/memory_wait.h"
#include "../tuning/tuning.h"

namespace svc {

void write_error(uint32_t job, const Status & status, Bytes & out) {
    Bytes payload;
    payload.u32(status.number_a);
    payload.u32(status.number_b);
    payload.u32(static_cast<uint32_t>(status.code.size()));
    payload.text(status.code);
    payload.text(status.text);
    out.record(job, RecordKind::Error, 0, 0, payload.view());
}

AnswerWriter::AnswerWriter(StepChannel * channel, std::function<void()> on_ended)
    : channel_(channel), on_ended_(std::move(on_ended)), note_us_(kTuning.first_note_us), thread_([this] { run(); }) {}

AnswerWriter::~AnswerWriter() { close(); }

AnswerWriter::Note & AnswerWriter::note(RecordKind kind, Job & job) {
    const MemoryWait wait;
    auto & added = noted_.emplace_back();
    added.kind = kind;
    added.job = job.shared_from_this();
    return added;
}

void AnswerWriter::start(Job & job) { note(RecordKind::Start, job).n_cached = job.n_cached; }

void AnswerWriter::add(Generation & generation, llama_token token, std::optional<TokenLogprobs> logprobs) {
    auto & added = note(RecordKind::Content, *generation.job);
    added.generation = &generation;
    added.token = token;
    added.logprobs = std::move(logprobs);
}

void AnswerWriter::finish(Generation & generation, Finish reason) {
    auto & added = note(RecordKind::Finish, *generation.job);
    added.generation = &generation;
    added.reason = reason;
    added.n_generated = generation.n_generated;
}

void AnswerWriter::done(Job & job) { note(RecordKind::Done, job); }

void AnswerWriter::fail(Job & job, Status status) { note(RecordKind::Error, job).status = std::move(status); }

void AnswerWriter::publish() {
    if (noted_.empty()) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kTuning.most_unwritten_steps; });
    if (waiting_.empty() && !writing_ && is_cheap(noted_)) {
        lock.unlock();  // nobody else writes: only this thread hands steps over
        write(noted_);
    } else {
        with_memory([this] { waiting_.push_back(std::move(noted_)); });
        lock.unlock();
        changed_.notify_all();
    }
    noted_.clear();
}

void AnswerWriter::close() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void AnswerWriter::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        auto steps = std::move(waiting_);
        waiting_.clear();
        writing_ = true;
        lock.unlock();
        changed_.notify_all();
        for (auto & step : steps) write(step);
        steps.clear();
        lock.lock();
        writing_ = false;
    }
}

bool AnswerWriter::is_cheap(const Step & step) const {
    return note_us_ * static_cast<double>(step.size()) < kTuning.written_at_once_us;
}

void AnswerWriter::write(Step & step) {
    const auto begin = Clock::now();
    for (auto & note : step) {
        if (note.job->cancelled || note.job->broken) continue;
        auto status = catch_status([&] { write(note); });
        if (status.code.empty()) continue;
        const MemoryWait wait;
        write_error(note.job->id, status, out_);
        note.job->broken = true;
        on_ended_();
    }
    const double us = 1000 * ms_between(begin, Clock::now()) / static_cast<double>(step.size());
    note_us_ = 0.9 * note_us_ + 0.1 * us;
    if (out_.data().empty()) return;
    channel_->send(out_.view());
    out_.data().clear();
}

void AnswerWriter::write(Note & note) {
    switch (note.kind) {
        case RecordKind::Start: {
            Bytes payload;
            payload.u32(static_cast<uint32_t>(note.job->prompt.tokens.size()));
            payload.u32(static_cast<uint32_t>(note.n_cached));
            out_.record(note.job->id, RecordKind::Start, 0, 0, payload.view());
            return;
        }
        case RecordKind::Finish: return write_finish(note);
        case RecordKind::Done: return write_done(*note.job);
        case RecordKind::Error: return write_error(note.job->id, note.status, out_);
        default: return write_token(note);
    }
}

void AnswerWriter::write_token(Note & note) {
    auto & generation = *note.generation;
    if (generation.ended) return;
    generation.n_written++;
    if (note.logprobs) generation.answer->add_logprobs(std::move(*note.logprobs));
    if (!generation.answer->push(note.token, out_)) return;
    generation.ended = true;
    on_ended_();
}

void AnswerWriter::write_finish(Note & note) {
    auto & generation = *note.generation;
    if (!generation.ended) generation.n_written = note.n_generated;
    generation.answer->finish(generation.ended ? Finish::Stop : note.reason, out_);
}

void AnswerWriter::write_done(const Job & job) {
    uint32_t n_generated = 0;
    uint32_t n_drafted = 0;
    uint32_t n_accepted = 0;
    for (const auto & generation : job.generations) {
        n_generated += static_cast<uint32_t>(generation->n_written);
        n_drafted += generation->drafting.n_drafted;
        n_accepted += generation->drafting.n_accepted;
    }
    const auto first = job.first_token == Clock::time_point{} ? job.finished : job.first_token;
    Bytes payload;
    payload.u32(static_cast<uint32_t>(job.prompt.tokens.size()));
    payload.u32(static_cast<uint32_t>(job.n_cached));
    payload.u32(n_generated);
    payload.f32(static_cast<float>(ms_between(job.submitted, job.admitted)));
    payload.f32(static_cast<float>(ms_between(job.admitted, first)));
    payload.f32(static_cast<float>(ms_between(first, job.finished)));
    payload.u32(n_drafted);
    payload.u32(n_accepted);
    out_.record(job.id, RecordKind::Done, 0, 0, payload.view());
}

}  // namespace svc
