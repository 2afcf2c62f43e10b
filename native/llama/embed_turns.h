// Texts that wait to be embedded, and whose turn it is: the tenant that was served the fewest tokens goes next, and within a
// tenant the first that came. One that comes back from a pause starts at the present, so that nobody saves up a burst.
// Embedder thread only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llama.h"

namespace svc {

struct EmbedRequest;

// One of a request's texts.
struct EmbedText {
    std::shared_ptr<EmbedRequest> request;
    size_t index;
    std::vector<llama_token> tokens;
};

class EmbedTurns {
  public:
    void push(EmbedText text);
    bool empty() const { return n_texts_ == 0; }
    // Not to be called when empty.
    const EmbedText & front() const { return next()->second.texts.front(); }
    EmbedText pop();
    // Forgets the request's texts.
    void drop(const EmbedRequest & request);

  private:
    struct Tenant {
        double served;  // tokens, on the clock of all
        std::deque<EmbedText> texts;
    };
    using Tenants = std::map<std::string, Tenant>;

    Tenants::const_iterator next() const;
    void forget_idle();

    Tenants tenants_;  // those with texts, and those that were served more than others
    size_t n_texts_ = 0;
    double now_ = 0;  // where the tenant stood that was served last
};

}  // namespace svc
