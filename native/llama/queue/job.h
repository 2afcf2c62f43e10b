// A job as it travels through the engine: from submit() over a preparing thread to its generations.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "../../common/clock.h"
#include "../chat/prompt.h"
#include "../kv/kv_offload.h"
#include "../kv/sequences.h"
#include "../options/options.h"
#include "../output/answer.h"
#include "../sampling/sampler.h"
#include "../speculative/drafting.h"
#include "grammar_pace.h"

namespace svc {

struct Job;

// One choice of a job. It owns a sequence while it is active.
struct Generation {
    enum class State {
        Waiting,           // no sequence yet
        WaitingForPrefix,  // another generation is computing a prefix that this one will share
        SwappingIn,        // a prefix is being copied into its sequence
        Prefill,
        Decode,
        Sampling,     // its grammar takes too long for a step: its row is sampled outside (decoding/late_rows.h)
        SwappingOut,  // its state is being saved; then it waits for room
        Finished,
    };

    Job * job = nullptr;
    uint8_t choice = 0;
    State state = State::Waiting;
    Sequence * sequence = nullptr;
    // Prompt and, after a preemption, what had been generated: what the sequence must hold before the next token is sampled.
    std::vector<llama_token> tokens;
    std::unique_ptr<Sampler> sampler;
    std::unique_ptr<Answer> answer;
    llama_token next = LLAMA_TOKEN_NULL;
    int32_t n_generated = 0;
    // Tokens of the answer as it was written; smaller than n_generated where the text ended it. The writer's.
    int32_t n_written = 0;
    // Its text has ended the answer; nothing more is written. Set by the writer, read by the engine.
    std::atomic<bool> ended{false};
    uint64_t last_turn = 0;   // of its adapter set
    uint32_t n_planned = 0;   // rows in the running step
    int32_t first_row = 0;    // of these in the batch
    uint32_t n_failures = 0;  // evaluations that failed with it, in a row; until one succeeds, its steps hold nothing else
    GrammarPace pace;
    bool is_sampling = false;  // outside: its sampler is in use, whatever becomes of its sequence
    int32_t batch_index = -1;  // row of logits in the running step, or -1
    Drafting drafting;
    PrefixTree::Owner prefix_owner = 0;  // in RunningPrompts: who computes the prefix that it waits for, or 0
    size_t n_awaited = 0;                // tokens of that
    KvOffload::Id fetching = 0;          // a saved state that is on its way from the disk, or 0
    bool fetched = false;                // once is enough: memory may be too small for what is fetched
    bool placed = false;                 // it had a sequence of its own; one that waits for a prefix has none yet
    PrefixTree::Owner announced = 0;     // in RunningPrompts while it is prefilling, or 0

    // 0: it has no grammar.
    double expected_grammar_ms() const { return sampler->has_grammar() ? pace.expected_ms() : 0; }
    bool active() const { return sequence != nullptr; }
    // Whether a step may hold rows of it.
    bool can_go_on() const;
    size_t n_remaining_prefill() const {
        return sequence && !sequence->filling ? tokens.size() - sequence->tokens.size() : tokens.size();
    }
};

struct Job : std::enable_shared_from_this<Job> {
    uint32_t id = 0;
    JobOptions options;
    Prompt prompt;
    std::string cache_key;  // tenant and adapters
    std::string lora_key;   // sequences with different adapters never share a batch
    std::vector<std::unique_ptr<Generation>> generations;
    std::atomic<bool> cancelled{false};
    std::atomic<bool> paused{false};
    // It has ended, whatever other threads still do for it.
    std::atomic<bool> over{false};
    // The answer could not be written and the error is out. Set by the writer, read by the engine.
    std::atomic<bool> broken{false};
    std::atomic<Clock::duration::rep> paused_since{0};
    bool started = false;
    // It stands in the queue's count.
    std::atomic<bool> counted{true};
    size_t n_queued_tokens = 0;
    double charged_answer = 0;  // tokens that its tenant was charged in advance
    size_t n_cached = 0;
    uint64_t n_evaluated_before = 0;  // prompt tokens of the engine until it was admitted
    Clock::time_point submitted;
    Clock::time_point admitted;
    Clock::time_point first_token;
    Clock::time_point finished;
    Clock::time_point deadline = Clock::time_point::max();
};

inline bool Generation::can_go_on() const { return state == State::Prefill || (state == State::Decode && !job->paused); }

}  // namespace svc
