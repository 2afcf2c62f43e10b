// What the scheduler goes by and what someone may want to tune for another kind of machine, in one place.
//
// Each line says what more of it buys and what it costs (`buys : costs`), then what shows that, and on which kind of machine it
// was set by it:
//   sim      the step planner's simulator, native/llama/test/step-planner.test.ts: machines of 0.1 to 100 times this speed
//   meter    the simulation of drafts that hit and miss, native/llama/test/speculation-meter.test.ts
//   NAME     that trial of `npm run bench -- serving`, or that suite
//   step     steps of one engine timed alone, with and without it
//   chosen   not measured: a bound that nothing should come near, or a matter of taste
//   2c       two virtual cores of a server CPU, x86-64, with AVX-512 or with AVX2; nothing here was measured on a GPU
//
// Where steps run on a GPU, begin with `tile_rows` (there is no CPU attention tile: the rows from which a step costs more, often
// 256), `padding_rows_most`, the copy slices (`KvTransfer` copies whole buffers there at once) and `pack_tokens`; then run `sim`
// with that machine and `prefill-stall`, `short-behind-long`, `conversations` and `overload`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace svc {

struct Tuning {
    using Ms = std::chrono::milliseconds;

    // --- Prompts beside sequences that decode: how much of a prompt a step takes (planning/prefill_planner.h).
    // ggml-cpu's attention tile: rows below it cost several times as much. step, 2c
    uint32_t tile_rows = 64;
    // prompt throughput : stream gaps. Rows from which each costs hardly more. step, 2c
    uint32_t efficient_rows = 192;
    // prompt throughput : stream gaps, contexts beside. Below a 50 ms SLO. prefill-stall, 2c
    double short_gap_ms = 40;
    // prompt throughput : stream gaps where rows are dear, or in a burst. prefill-stall, 2c
    double long_gap_ms = 80;
    // TTFT of many prompts at once : stream gaps. In physical batches. overload, 2c
    double burst_batches = 20;
    // a long prompt's TTFT : short ones' TTFT. short-behind-long, sim
    double ageing = 0.4;
    // other tenants' TTFT : that of a tenant that runs much. tenants, 2c
    double sibling_tokens = 512;
    // longest prompt that holds up one that ends : TTFT of short ones. short-behind-long, 2c
    size_t go_ahead_tokens = 1024;
    // whole prompts in a step : step time. A pass costs about as much. step, 2c
    uint32_t tail_rows = 32;
    // whole tiles, fewer passes : gaps beyond the bound. sim
    double chunk_excess = 1.4;
    // of the stated gap bound alone: what estimates may err by. sim
    double estimate_error = 1.1;

    // --- What the engine believes a step costs (planning/step_estimates.h, planning/row_cost.h).
    // steps with prompts until one without : how soon a false belief ends. sim
    uint32_t first_probe_steps = 8;
    // the same once beliefs held : how soon a machine that changed is noticed. sim
    uint32_t last_probe_steps = 64;
    // even chunks : how soon an estimate is held against another size. sim
    uint32_t variation_steps = 13;
    // speed of recovery : error where prompts are free (a device's step). sim
    double least_prefill_share = 0.02;
    // fewer probes : how small a contradiction counts, as a logarithm. sim
    double suspicious_surprise = 0.1;
    // steadiness : how soon a new price counts, for each step. sim
    double row_cost_kept = 0.85;
    // steadiness at depths not seen : how soon they are learned. sim
    double row_cost_belief = 0.1;
    // the depth at which a row is taken to cost twice as much, at first. step, 2c
    double row_cost_far_depth = 8192;
    // robustness of the fit : how steep a price by depth may be. chosen
    double row_cost_least_base = 1.0 / 64;

    // --- Sequences and cells of the KV cache (kv/sequences.h, engine/kv_cache.h).
    // streams in one pass : rows for nobody. A pass costs as much as so many rows. step, 2c
    double padding_rows_most = 4;
    // the same by depth: tokens in front that cost a row as much again. step, 2c
    double padding_tokens_per_row = 512;
    // prefix hits : attention over cells that nobody runs (unified KV). streams, 2c
    size_t idle_cells = 4096;
    // early saves : copies for nothing. Of the cells, below which they are tight. chosen
    uint32_t tight_part = 4;
    // fewer copies : tokens evaluated again. chosen
    size_t worth_saving_tokens = 32;
    // passes saved : tokens evaluated again. A tile, which costs no less. step, 2c
    size_t worth_copying_tokens = 64;
    // prefixes computed at once : waiting for another's. shared-prefix, 2c
    size_t worth_waiting_tokens = 32;
    // the best of equal prefixes : time of a look-up. chosen
    size_t prefix_candidates = 16;
    // preemptions avoided : cells left unused, for each who runs. chosen
    uint32_t reserve_tokens = 32;
    // states saved before cells run out : sequences set aside too early. chosen
    double save_ahead_steps = 8;

    // --- Copies between steps (engine/kv_cache.h, kv/kv_copier.h).
    // copies done : stream gaps. conversations, 2c
    Ms copy_slice{3};
    // copies done : TTFT of what arrives meanwhile. conversations, 2c
    Ms idle_copy_slice{10};
    // TTFT of those who wait for a copy : stream gaps. overload, 2c
    Ms awaited_copy_slice{20};
    // the same while nobody computes. overload, 2c
    Ms idle_awaited_copy_slice{40};
    // until the first copies are measured. step, 2c
    double assumed_copy_bytes_per_ms = 1e6;
    // until the first reads are measured. chosen
    double assumed_disk_bytes_per_ms = 2e5;
    // fewer slow restores : how soon a faster copy is noticed. chosen
    uint32_t restore_probe_refusals = 16;
    // speed of memcpy : how late a slice ends. step, 2c
    size_t copy_piece_bytes = 256 * 1024;
    // the same for threads that share a slice. step, 2c
    size_t copy_round_pieces = 8;
    // memory that can be had at once : writes for nothing. Share of it in use. chosen
    double write_behind_from = 0.5;
    // states on disk that are found : memory for others. Share of what saved states may have. chosen
    double offload_index_share = 0.25;

    // --- Admission, preemption and failures (engine/scheduler.h, queue/).
    // a slow client's cached state : others' wait for its sequence. chosen
    Ms paused_grace{1000};
    // wake-ups where all are paused : how late a grace ends. chosen
    Ms idle_poll{200};
    // streams that outlive a failing step : time spent on the one that fails. chosen
    uint32_t most_failures = 2;
    // room for tenants with little in the queue : for one with much. overload, 2c
    uint32_t reserved_part = 8;
    // of text, until it is tokenised. step
    uint64_t bytes_per_token = 4;
    // TTFT of short prompts : long ones, of which few at a time are prepared. Some 40 ms of work. step, 2c
    uint64_t quick_prompt_tokens = 64 * 1024;
    // the same for messages and their parts, which templates take up to 0.2 ms for each. chosen
    size_t quick_messages = 256;
    // costly jobs that do not wait for another tenant's : memory and cores. chosen
    size_t slow_preparing_threads = 2;
    // of pixels: three megabytes come to about a thousand tokens. step
    size_t media_bytes_per_text_byte = 64;
    // connections that may wait : memory, 2 KiB each. idle-streams, 2c
    uint32_t auto_queued_jobs = 16384;
    // prompts that may wait : memory. chosen
    uint32_t auto_queued_tokens = 4 * 1024 * 1024;
    // of what a refused client is told : its retries. chosen
    double least_retry_ms = 100;
    // the same : how long it waits. chosen
    double most_retry_ms = 60000;
    // the same, before any job has ended. chosen
    double unknown_retry_ms = 1000;
    // steadiness of what an answer is charged in advance : its truth. chosen
    double answer_memory = 0.9;
    // steadiness of the service rate : how soon it follows. overload, 2c
    double rate_memory_s = 20;
    // of a full engine, until its rate counts. overload, 2c
    double rate_least_s = 0.2;
    // the same in jobs. overload, 2c
    double rate_least_jobs = 4;

    // --- Grammars (decoding/grammar_allowance.h, decoding/late_rows.h).
    // large grammars in the step : stream gaps. All rows of a step, beyond what sampling takes. slow-grammar.test.ts, 2c
    double grammar_step_ms = 5;
    // the same for one row. slow-grammar.test.ts, 2c
    double grammar_row_ms = 3;
    // rows whose grammar counts as free. step, 2c
    double sampled_row_ms = 0.3;
    // pieces of a grammar's work that a step begins although they cannot be broken off, as look-ups. step, 2c
    size_t grammar_step_pieces = 8192;
    // quick answers under a new grammar : what hostile ones take from the steps, before their rows go to the slow thread. chosen
    double late_row_quick_ms = 20;
    // a row outside steps that lets its generation join them again. chosen
    double late_row_joins_ms = 1;
    // what a row is expected to take before any was taken: quick ones come first. chosen
    double grammar_first_ms = 1;
    // steps that a late grammar holds up : rows outside before it may join one again, twice as many each time, up to these.
    // chosen
    uint32_t grammar_most_penalty = 64;
    // rows in time that make up for having been late. chosen
    uint32_t grammar_forgiven_rows = 64;
    // slow grammars that still have an answer : processor time that they take. chosen
    double late_row_most_ms = 2000;
    // the same until a job with a grammar, a schema or tools is prepared, while others of the slow queue wait. chosen
    double grammar_compile_ms = 1000;
    // the same while short prompts wait : jobs that are begun twice. chosen
    double quick_compile_ms = 60;
    // bytes of grammar, schema and tools that are tried there. chosen
    size_t quick_grammar_bytes = 64 * 1024;
    // schemas : time of their conversion, which cannot be broken off. Look-ups in a millisecond. grammar-budget.test.ts, 2c
    double grammar_pieces_per_ms = 10000;
    // an answer that a quick grammar keeps waiting : steps that hardly notice the thread that it is followed on. chosen
    int late_quick_niceness = 5;
    // the same for the slow ones, which get what steps leave: a busy thread beside those that compute makes them wait. chosen
    int late_slow_niceness = 19;
    // fewer rows begun anew : how long one late row waits for another. chosen
    double late_first_slice_ms = 10;
    // the same at most: longer than the largest state takes. chosen
    double late_most_slice_ms = 160;

    // --- Threads (compute/, engine/answer_writer.h).
    // rows sampled side by side : cores taken from computing. streams, 2c
    int32_t helping_threads = 4;
    // fewer wake-ups : sampling by one thread. What waking helpers costs. step, 2c
    double shared_rows_us = 120;
    // fewer wake-ups : a later next step. What waking the writer costs. streams, 2c
    double written_at_once_us = 60;
    // until writing is measured. step, 2c
    double first_note_us = 3;
    // slow writing beside computing : memory. chosen
    size_t most_unwritten_steps = 4;
    // how soon another program is noticed : calls of the system. contention, 2c
    Ms contention_look{100};
    // certainty of a trial of fewer threads : its length. contention, 2c
    uint32_t compared_steps = 6;
    // steps after a change that tell nothing. contention, 2c
    uint32_t settling_steps = 2;
    // steadiness : how soon a trial follows a prompt. contention, 2c
    Ms pause_after_prompt{250};
    // fewer trials : how soon a change is noticed. contention, 2c
    Ms first_trial_pause{1000};
    // the same where trials keep failing. contention, 2c
    Ms longest_trial_pause{64000};
    // the same while fewer threads than all compute. contention, 2c
    Ms longest_without_all{4000};
    // after that without comparable steps, all threads compute again. chosen
    Ms longest_unjudged{6000};
    // of rest, until nothing is known of other programs. chosen
    Ms forgotten_after{1000};
    // fewer changes : gains that are left. contention, 2c
    double worthwhile = 0.95;

    // --- Speculation (engine/speculation.h, speculative/).
    // chances to notice drafts that hit : time lost to those that miss. speculation, meter
    double draft_allowance = 0.015;
    // the same at the start, in steps. meter
    double first_allowance_steps = 2;
    // the same saved up, in steps. meter
    double most_allowance_steps = 4;
    // drafted steps : how well plain decoding's price is known. meter
    uint32_t steps_to_plain = 64;
    // the same beside a sequence that drafts nothing, whose pace is at stake. meter
    uint32_t shared_steps_to_plain = 16;
    // tokens by which a draft model is judged. meter
    uint32_t typical_draft = 8;
    // fewer rejected rows : gains that are left. speculation, 2c
    double least_draft_gain = 1.05;
    // a neighbour's pace in steps that others' drafts make longer : gains of these. Of its pace without; bounds what drafts cost.
    // speculation, meter
    double least_neighbour_pace = 0.8;
    // earlier drafts : rejected rows at the start. meter
    double first_draft_chance = 0.4;
    // longer drafts : rejected rows. meter
    double least_draft_chance = 0.05;
    // the same by the draft model's own probability. speculation, 2c
    double least_draft_confidence = 0.25;
    // steadiness of a new answer's chances : its own record. meter
    double acceptance_prior_weight = 2;
    // steadiness of the record : how soon it follows a text. meter
    double acceptance_window = 32;
    // steps until a price that nobody tried is unknown again. meter
    uint64_t step_cost_memory = 2048;
    // optimism for rows never tried : tries that cost. meter
    double step_cost_slope = 0.1;
    // how soon a price follows : steadiness. meter
    double step_cost_blend = 0.2;
    // after cells ran out with drafts in the batch. chosen
    uint32_t steps_without_drafts = 32;
    // of generations, one reads along where a draft model does not pay. speculation, 2c
    uint32_t draft_probe_part = 16;
    // drafts sooner : stream gaps. Prompt tokens that the draft model reads in a step. step, 2c
    size_t draft_catch_up_tokens = 256;
    // the same on its way in a draft. step, 2c
    size_t draft_few_tokens = 32;
    // longer drafts in crowds : memory, a row of logits each. speculation, 2c
    uint32_t draft_rows_per_sequence = 4;
    // longer drafts alone : memory. speculation, 2c
    uint32_t least_draft_rows = 16;
    // the same for many sequences. speculation, 2c
    uint32_t most_draft_rows = 64;

    // --- Embeddings (embed/embedder.h).
    // texts that share a reading of the weights : attention, by the square. embeddings, 2c
    size_t pack_tokens = 512;
    // texts with few tokens for their bytes that share a batch : what others wait while they are tokenised. chosen
    size_t pack_bytes = 32 << 10;
    // embeddings : gaps of other models' streams on the same cores. tenants, 2c
    double shared_pack_ms = 20;
    // longest text : memory, where no option says. chosen
    uint32_t auto_embed_ctx = 2048;
    // texts in a batch : memory, where no option says. embeddings, 2c
    uint32_t auto_embed_sequences = 64;
};

// These are in use. To try others, change them here and build: all of it is compiled in, and tests and simulator see the same.
inline constexpr Tuning kTuning{};

}  // namespace svc
