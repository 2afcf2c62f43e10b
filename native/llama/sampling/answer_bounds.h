// What a model's file says of answers that the model shall not give: its keys svc.repetition_stop and svc.json_words. Models that
// say nothing of it, as all but our own, are bound by nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llama.h"

namespace svc {

class Model;
struct JobOptions;

class AnswerBounds {
  public:
    explicit AnswerBounds(const Model & model);

    // Whether an answer goes round in circles: its last tokens, svc.repetition_stop or more, are one piece three times or
    // oftener.
    bool repeats_itself(const std::vector<llama_token> & tokens, int32_t n_generated) const;
    // A chat without tools, schema and grammar, in which none of svc.json_words stands, is answered without an object.
    void forbid_unasked_json(JobOptions & options) const;

  private:
    int32_t repetition_stop_ = 0;          // 0: never
    std::vector<std::string> json_words_;  // in small letters; none: nothing is forbidden
    std::vector<llama_token> braces_;      // tokens that open an object
};

}  // namespace svc
