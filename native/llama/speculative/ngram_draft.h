// Drafts from the sequence's own tokens, prompt and answer: what followed the last time.
//
// It guesses all the time and compares each guess with what is sampled, whether the guess was verified in a batch or not. So the
// chance of a hit is known before a draft costs anything.
#pragma once

#include <cstdint>
#include <vector>

#include "acceptance.h"
#include "ngram_index.h"

namespace svc {

class SpeculationMeter;

class NgramDraft {
  public:
    // Scores what was sampled since the last call and looks for the next guess.
    void follow(const std::vector<llama_token> & tokens, SpeculationMeter & meter);

    // Chances that the next 1, 2, ... `most` guessed tokens are all right; empty without a guess.
    std::vector<double> chances(uint32_t most, const SpeculationMeter & meter) const;
    // The next `count` guessed tokens; fewer at a placeholder of media.
    std::vector<llama_token> draft(const std::vector<llama_token> & tokens, uint32_t count) const;

  private:
    NgramIndex index_;
    NgramIndex::Match match_;
    Acceptance acceptance_;
    size_t n_scored_ = 0;
};

}  // namespace svc
