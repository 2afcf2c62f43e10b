#include "embed_turns.h"

#include <algorithm>

#include "embedder.h"

namespace svc {

void EmbedTurns::push(EmbedText text) {
    auto & tenant = tenants_.try_emplace(text.request->tenant, Tenant{now_, {}}).first->second;
    tenant.texts.push_back(std::move(text));
}

EmbedText EmbedTurns::pop() {
    const auto found = tenants_.find(next()->first);
    auto & tenant = found->second;
    auto text = std::move(tenant.texts.front());
    tenant.texts.pop_front();
    now_ = tenant.served;
    tenant.served += static_cast<double>(text.tokens.size());
    if (tenant.texts.empty()) tenants_.erase(found);
    return text;
}

void EmbedTurns::drop(const EmbedRequest & request) {
    const auto found = tenants_.find(request.tenant);
    if (found == tenants_.end()) return;
    auto & texts = found->second.texts;
    texts.erase(
        std::remove_if(texts.begin(), texts.end(), [&](const EmbedText & text) { return text.request.get() == &request; }),
        texts.end());
    if (texts.empty()) tenants_.erase(found);
}

EmbedTurns::Tenants::const_iterator EmbedTurns::next() const {
    return std::min_element(tenants_.begin(), tenants_.end(),
                            [](const auto & a, const auto & b) { return a.second.served < b.second.served; });
}

}  // namespace svc
