// From sampled tokens to what JS reads: text, stop strings, chat syntax, records. The engine thread only notes what happened;
// writing it out overlaps with the next decode, on a thread of its own. A step that is cheap to write is written at once:
// waking a thread would cost more.
//
// An answer that ends by its text (a stop string, the one allowed tool call) is known one step late. Its generation is then
// marked `ended`, the engine ends it, and tokens that were sampled in between are neither written nor part of its usage.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "../../common/step_channel.h"
#include "../queue/job.h"

namespace svc {

// Appends the record that ends a job with an error.
void write_error(uint32_t job, const Status & status, Bytes & out);

class AnswerWriter {
  public:
    // `on_ended` is called, on whichever thread writes, when an answer has ended by its text or could not be written.
    AnswerWriter(StepChannel * channel, std::function<void()> on_ended);
    ~AnswerWriter();

    // Engine thread only. What is noted waits for publish().
    void start(Job & job);
    void add(Generation & generation, llama_token token, std::optional<TokenLogprobs> logprobs);
    void finish(Generation & generation, Finish reason);
    void done(Job & job);
    void fail(Job & job, Status status);

    // Hands the step's notes over. Waits while several steps are still being written, so that memory stays bounded.
    void publish();
    // Writes everything that was published, and joins the thread.
    void close();

  private:
    struct Note {
        RecordKind kind;
        std::shared_ptr<Job> job;
        Generation * generation = nullptr;
        llama_token token = LLAMA_TOKEN_NULL;
        std::optional<TokenLogprobs> logprobs;
        Finish reason = Finish::Stop;
        int32_t n_generated = 0;
        size_t n_cached = 0;
        Status status;
    };
    using Step = std::vector<Note>;

    void run();
    bool is_cheap(const Step & step) const;
    void write(Step & step);
    void write(Note & note);
    void write_token(Note & note);
    void write_finish(Note & note);
    void write_done(const Job & job);
    Note & note(RecordKind kind, Job & job);

    StepChannel * channel_;
    std::function<void()> on_ended_;
    Step noted_;      // engine thread only
    Bytes out_;       // whoever writes
    double note_us_;  // measured cost of a note; whoever writes

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Step> waiting_;
    bool writing_ = false;
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace svc
