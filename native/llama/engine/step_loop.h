// The engine thread: step after step, the scheduler says who runs, the planner what the batch holds, the decoder evaluates it,
// and what is sampled goes to the writer.
#pragma once

#include <memory>
#include <vector>

#include "../../common/step_channel.h"
#include "../context/engine_limits.h"
#include "../decoding/decoder.h"
#include "../decoding/late_rows.h"
#include "../decoding/row_sampler.h"
#include "../model/model.h"
#include "../planning/step_estimates.h"
#include "../planning/step_planner.h"
#include "../queue/job_inbox.h"
#include "../sampling/answer_bounds.h"
#include "answer_writer.h"
#include "engine_stats.h"
#include "kv_cache.h"
#include "scheduler.h"
#include "speculation.h"

namespace svc {

class StepLoop {
  public:
    // What it works with; all of it outlives it.
    struct Parts {
        const Model & model;
        const EngineLimits & limits;
        llama_context * context;
        KvCache & kv;
        Decoder & decoder;
        Speculation * speculation;  // null: none
        StepEstimates & estimates;
        JobInbox & inbox;
        AnswerWriter & writer;
        StepChannel & channel;
        EngineStats & stats;
    };

    explicit StepLoop(const Parts & parts);

    // It runs until the inbox closes; then every job has ended.
    void run();

  private:
    void warm_up();
    void guarded_step();
    void fail_on_device(const Status & why);
    bool step();
    void clear_step();
    StepState state_of_step();
    StepPlan plan_of(const StepState & state, const StepTurn & turn) const;
    void choose_drafts(const StepTurn & turn);
    void build_batch(const StepPlan & plan);
    void evaluate();
    void observe(double ms);
    void evaluate_image(Generation & generation);
    void clear_padding();
    void roll_back(const Status & why);
    void commit();
    void sample();
    void sample_outside(Generation & generation, const float * logits);
    void take_late_rows();
    void verify(Generation & generation, size_t n_accepted);
    void advance(Generation & generation, SampledRow row);
    void tell(const std::string & io_error);
    void publish();
    // What a step is believed to cost, and what it computes on.
    void publish_beliefs();

    Parts parts_;
    AnswerBounds bounds_;
    Scheduler scheduler_;
    RowSampler sampler_;
    LateRows late_rows_;
    std::vector<Generation *> candidates_;  // that could go on, of the running step
    std::vector<Generation *> in_step_;
    std::vector<llama_seq_id> padded_;  // sequences that got a row to fill a gap
    bool in_burst_ = false;
    bool was_image_ = false;  // the last step
    bool is_stalled_ = false;
    Status device_fault_;  // empty code: none
};

}  // namespace svc
