#include "embed_turns.h"

#include <algorithm>
#include <tuple>

#include "embedder.h"

namespace svc {

void EmbedTurns::push(EmbedText text) {
    auto & tenant = tenants_.try_emplace(text.request->tenant, Tenant{now_, {}}).first->second;
    if (tenant.texts.empty()) tenant.served = std::max(tenant.served, now_);
    tenant.texts.push_back(std::move(text));
    n_texts_++;
}

EmbedText EmbedTurns::pop() {
    auto & tenant = tenants_.find(next()->first)->second;
    auto text = std::move(tenant.texts.front());
    tenant.texts.pop_front();
    n_texts_--;
    now_ = tenant.served;
    tenant.served += static_cast<double>(text.tokens.size());
    forget_idle();
    return text;
}

void EmbedTurns::drop(const EmbedRequest & request) {
    const auto found = tenants_.find(request.tenant);
    if (found == tenants_.end()) return;
    auto & texts = found->second.texts;
    n_texts_ -= texts.size();
    texts.erase(
        std::remove_if(texts.begin(), texts.end(), [&](const EmbedText & text) { return text.request.get() == &request; }),
        texts.end());
    n_texts_ += texts.size();
    forget_idle();
}

// A tenant that asks for one text after another would else be new each time, and always first.
void EmbedTurns::forget_idle() {
    for (auto it = tenants_.begin(); it != tenants_.end();) {
        const bool is_idle = it->second.texts.empty() && it->second.served <= now_;
        it = is_idle ? tenants_.erase(it) : std::next(it);
    }
}

EmbedTurns::Tenants::const_iterator EmbedTurns::next() const {
    return std::min_element(tenants_.begin(), tenants_.end(), [](const auto & a, const auto & b) {
        return std::tuple(a.second.texts.empty(), a.second.served) < std::tuple(b.second.texts.empty(), b.second.served);
    });
}

}  // namespace svc
