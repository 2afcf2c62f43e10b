// Speculative decoding: what is drafted for a step, and what sampling makes of it.
//
// A step holds, for each speculating sequence, its next token and a few drafted ones, with logits for each. The request's own
// sampler draws from these rows in order and stops behind the first token that is not the drafted one. Every token is thus drawn
// from the logits that it would have been drawn from without drafts, by the same sampler in the same state.
#include <algorithm>

#include "engine.h"

namespace svc {

namespace {

// When cells ran out with drafts in the batch, so many steps do without.
constexpr uint32_t kStepsWithoutDrafts = 32;
// Where the draft model does not pay, one generation in so many has it read along, to notice when it does.
constexpr uint32_t kProbeShare = 16;

bool allows(DraftSource asked, DraftSource source) { return asked == DraftSource::Any || asked == source; }

}  // namespace

void Engine::start_speculation(const ContextPlan & plan, std::shared_ptr<Model> draft_model) {
    const auto passes = plan.sharing == Sharing::Cells ? Passes::One : Passes::Equal;
    meter_ =
        std::make_unique<SpeculationMeter>(options_.speculation, passes, plan.n_parallel + plan.n_draft_rows, plan.n_draft_rows);
    if (!draft_model) return;
    draft_model_ = std::make_unique<DraftModel>(std::move(draft_model), *model_, options_, plan);
    limits_.memory += draft_model_->memory();
}

// Chooses the drafts of the decoding sequences, which are in in_step_.
void Engine::plan_drafts() {
    for (auto * generation : generations_) generation->drafting.tokens.clear();
    draft_model_ms_ = 0;
    if (!meter_) return;
    std::optional<ComputeTurn> turn;
    if (draft_model_) turn.emplace(*compute_);
    collect_offers();
    if (n_undrafted_ > 0) n_undrafted_--;
    else if (meter_->plan(offers_) == 0) return;
    for (size_t i = 0; i < offers_.size(); i++) {
        if (!offering_[i]) continue;
        auto & drafting = offering_[i]->drafting;
        drafting.from_model = offers_[i].from_model;
        if (!drafting.from_model) drafting.tokens = drafting.ngrams.draft(offering_[i]->tokens, offers_[i].n_chosen);
    }
    if (draft_model_) run_draft_model();
    for (size_t i = 0; i < offers_.size(); i++) {
        if (!offering_[i]) continue;
        const auto n_drafted = static_cast<uint32_t>(offering_[i]->drafting.tokens.size());
        offers_[i].n_chosen = n_drafted;
        offering_[i]->n_planned += n_drafted;
    }
}

// In the order of sequence ids, with the gaps between them that build_batch() will fill.
void Engine::collect_offers() {
    offers_.clear();
    offering_.clear();
    sort_by_sequence();
    llama_seq_id next = in_step_.empty() ? 0 : in_step_.front()->sequence->id;
    for (auto * generation : in_step_) {
        const bool fills = can_fill(next, generation->sequence->id);
        for (; fills && next < generation->sequence->id; next++) {
            auto & filler = offers_.emplace_back();
            filler.sequence = next;
            filler.is_filler = true;
            offering_.push_back(nullptr);
        }
        offers_.push_back(offer_of(*generation));
        offering_.push_back(generation);
        next = generation->sequence->id + 1;
    }
}

DraftOffer Engine::offer_of(Generation & generation) {
    DraftOffer offer;
    offer.sequence = generation.sequence->id;
    const auto source = generation.job->options.draft_source;
    const uint32_t n_most = n_most_drafted(generation);
    if (n_most == 0) return offer;
    auto & drafting = generation.drafting;
    if (allows(source, DraftSource::Ngrams)) {
        drafting.ngrams.follow(generation.tokens, *meter_);
        offer.chances = drafting.ngrams.chances(n_most, *meter_);
    }
    if (!draft_model_ || !allows(source, DraftSource::Model) || !reads_along(generation)) return offer;
    const double probability = drafting.model.probability(DraftKind::Model, meter_->prior(DraftKind::Model));
    if (!offer.chances.empty() && offer.chances[0] >= probability) return offer;
    offer.from_model = true;
    offer.chances.clear();
    double chance = 1;
    while (offer.chances.size() < n_most && (chance *= probability) >= meter_->least_chance()) offer.chances.push_back(chance);
    return offer;
}

// Up to the ends of the answer and of the context: a draft never decides how an answer ends.
uint32_t Engine::n_most_drafted(const Generation & generation) const {
    const auto & options = generation.job->options;
    if (options.draft_source == DraftSource::None) return 0;
    size_t most = std::min(options.n_draft_max.value_or(options_.n_draft_max), options_.n_draft_max);
    if (options.max_tokens > 0) most = std::min(most, static_cast<size_t>(options.max_tokens - generation.n_generated - 1));
    const size_t n_held = generation.tokens.size() + 1;
    return static_cast<uint32_t>(std::min(most, limits_.n_ctx_per_job > n_held ? limits_.n_ctx_per_job - n_held : 0));
}

// Whether the draft model has read what the generation has; while it has not, it reads on.
bool Engine::reads_along(Generation & generation) {
    auto & use = generation.drafting.use_model;
    if (use == Drafting::Model::Undecided) {
        const bool probe = n_generations_++ % kProbeShare == 0;
        use = probe || meter_->model_pays() ? Drafting::Model::Yes : Drafting::Model::No;
    }
    return use == Drafting::Model::Yes && draft_model_->catch_up(generation.sequence->id, generation.tokens);
}

void Engine::run_draft_model() {
    std::vector<DraftModel::Wish> wishes;
    std::vector<Generation *> wishing;
    for (size_t i = 0; i < offers_.size(); i++) {
        if (!offers_[i].from_model || offers_[i].n_chosen == 0) continue;
        wishing.push_back(offering_[i]);
        wishes.push_back(
            {offering_[i]->sequence->id, &offering_[i]->tokens, offers_[i].n_chosen, meter_->least_confidence(), {}});
    }
    if (wishes.empty()) return;
    const auto begin = Clock::now();
    const uint32_t n_rounds = draft_model_->draft(wishes);
    draft_model_ms_ = ms_between(begin, Clock::now());
    meter_->observe_model(n_rounds, draft_model_ms_);
    for (size_t i = 0; i < wishes.size(); i++) wishing[i]->drafting.tokens = std::move(wishes[i].draft);
}

// No cells for a batch with drafts. True: the next steps try without them.
bool Engine::drop_drafts() {
    const bool drafted = std::any_of(offers_.begin(), offers_.end(), [](const auto & offer) { return offer.n_chosen > 0; });
    if (drafted) n_undrafted_ = kStepsWithoutDrafts;
    return drafted;
}

// Draws from the rows in order for as long as the drafted tokens are those that are drawn.
std::vector<SampledRow> Engine::sample(Generation & generation, const std::vector<const float *> & logits) const {
    std::vector<SampledRow> sampled;
    const auto & drafted = generation.drafting.tokens;
    for (size_t i = 0; i < logits.size(); i++) {
        sampled.push_back(sample(generation, logits[i]));
        const auto token = sampled.back().token;
        if (i < drafted.size() && (token != drafted[i] || llama_vocab_is_eog(model_->vocab(), token))) break;
    }
    return sampled;
}

// Keeps the drafted tokens that were right in the sequence and drops the others.
void Engine::settle(Generation & generation, size_t n_accepted) {
    auto & drafting = generation.drafting;
    if (drafting.tokens.empty()) return;
    auto & sequence = *generation.sequence;
    sequences_->append(sequence, drafting.tokens.data(), n_accepted, sequence.n_pos + static_cast<llama_pos>(n_accepted));
    if (n_accepted < drafting.tokens.size()) sequences_->drop_unrecorded(sequence);
    for (size_t i = 0; drafting.from_model && i < std::min(n_accepted + 1, drafting.tokens.size()); i++) {
        drafting.model.observe(DraftKind::Model, i < n_accepted);
        meter_->acceptance().observe(DraftKind::Model, i < n_accepted);
    }
    drafting.n_drafted += static_cast<uint32_t>(drafting.tokens.size());
    drafting.n_accepted += static_cast<uint32_t>(n_accepted);
    stats_.n_drafted_tokens += drafting.tokens.size();
    stats_.n_accepted_tokens += n_accepted;
    drafting.tokens.clear();
}

}  // namespace svc
