#include "speculation.h"

#include <algorithm>
#include <optional>

#include "../../common/clock.h"
#include "../../common/status.h"
#include "../model/device_fault.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

bool allows(DraftSource asked, DraftSource source) { return asked == DraftSource::Any || asked == source; }

}  // namespace

Speculation::Speculation(const EngineOptions & options, const ContextPlan & plan, uint32_t n_ctx_per_job, const Model & target,
                         std::shared_ptr<Model> draft_model)
    : n_draft_max_(options.n_draft_max),
      n_ctx_per_job_(n_ctx_per_job),
      meter_(options.speculation, plan.sharing == Sharing::Cells ? Passes::One : Passes::Equal,
             plan.n_parallel + plan.n_draft_rows, plan.n_draft_rows) {
    if (draft_model) model_ = std::make_unique<DraftModel>(std::move(draft_model), target, options, plan);
}

void Speculation::warm_up() {
    if (model_) model_->warm_up();
}

MemoryUse Speculation::memory() const { return model_ ? model_->memory() : MemoryUse{}; }

void Speculation::plan(const std::vector<Generation *> & decoding, const Fills & fills, CoreArbiter::Member & compute) {
    drafting_ms_ = 0;
    std::optional<CoreGrant> grant;
    if (model_) {
        grant.emplace(compute);
        model_->begin_step();
    }
    const auto begin = Clock::now();
    const auto status = catch_status([&] { choose_drafts(decoding, fills); });
    if (status.code == kDeviceFailed) throw StatusError(status);
    if (!status.code.empty()) drop_drafts(decoding);
    drafting_ms_ = ms_between(begin, Clock::now());
}

// Without drafts a step is right too.
void Speculation::drop_drafts(const std::vector<Generation *> & decoding) {
    candidates_.clear();
    drafting_for_.clear();
    for (auto * generation : decoding) {
        generation->drafting.tokens.clear();
        generation->n_planned = 1;
    }
}

void Speculation::choose_drafts(const std::vector<Generation *> & decoding, const Fills & fills) {
    collect_offers(decoding, fills);
    if (n_undrafted_ > 0) n_undrafted_--;
    else if (meter_.plan(candidates_) == 0) return;
    for (size_t i = 0; i < candidates_.size(); i++) {
        if (!drafting_for_[i]) continue;
        auto & drafting = drafting_for_[i]->drafting;
        drafting.from_model = candidates_[i].from_model;
        if (!drafting.from_model) drafting.tokens = drafting.ngrams.draft(drafting_for_[i]->tokens, candidates_[i].n_chosen);
    }
    if (model_) run_model();
    for (size_t i = 0; i < candidates_.size(); i++) {
        if (!drafting_for_[i]) continue;
        const auto n_drafted = static_cast<uint32_t>(drafting_for_[i]->drafting.tokens.size());
        candidates_[i].n_chosen = n_drafted;
        drafting_for_[i]->n_planned += n_drafted;
    }
}

// The gaps between sequences that will be filled are offered too.
void Speculation::collect_offers(const std::vector<Generation *> & decoding, const Fills & fills) {
    candidates_.clear();
    drafting_for_.clear();
    llama_seq_id next = decoding.empty() ? 0 : decoding.front()->sequence->id;
    for (auto * generation : decoding) {
        const bool is_filled = fills(next, generation->sequence->id);
        for (; is_filled && next < generation->sequence->id; next++) {
            auto & padding = candidates_.emplace_back();
            padding.sequence = next;
            padding.is_padding = true;
            drafting_for_.push_back(nullptr);
        }
        candidates_.push_back(candidate_of(*generation));
        drafting_for_.push_back(generation);
        next = generation->sequence->id + 1;
    }
}

DraftCandidate Speculation::candidate_of(Generation & generation) {
    DraftCandidate candidate;
    candidate.sequence = generation.sequence->id;
    const auto source = generation.job->options.draft_source;
    const uint32_t n_most = n_most_drafted(generation);
    if (n_most == 0) return candidate;
    auto & drafting = generation.drafting;
    if (allows(source, DraftSource::Ngrams)) {
        drafting.ngrams.follow(generation.tokens, meter_);
        candidate.chances = drafting.ngrams.chances(n_most, meter_);
    }
    if (!model_ || !allows(source, DraftSource::Model) || !reads_along(generation)) return candidate;
    const double probability = drafting.model.probability(DraftKind::Model, meter_.prior(DraftKind::Model));
    if (!candidate.chances.empty() && candidate.chances[0] >= probability) return candidate;
    candidate.from_model = true;
    candidate.chances.clear();
    double chance = 1;
    while (candidate.chances.size() < n_most && (chance *= probability) >= meter_.least_chance())
        candidate.chances.push_back(chance);
    return candidate;
}

// Up to the ends of the answer and of the context: a draft never decides how an answer ends.
uint32_t Speculation::n_most_drafted(const Generation & generation) const {
    const auto & options = generation.job->options;
    if (options.draft_source == DraftSource::None) return 0;
    size_t most = std::min(options.n_draft_max.value_or(n_draft_max_), n_draft_max_);
    if (options.max_tokens > 0) most = std::min(most, static_cast<size_t>(options.max_tokens - generation.n_generated - 1));
    const size_t n_held = generation.tokens.size() + 1;
    return static_cast<uint32_t>(std::min(most, n_ctx_per_job_ > n_held ? n_ctx_per_job_ - n_held : 0));
}

// Whether the draft model has read what the generation has; while it has not, it reads on.
bool Speculation::reads_along(Generation & generation) {
    auto & use = generation.drafting.use_model;
    if (use == Drafting::Model::Undecided) {
        const bool probe = n_generations_++ % kTuning.draft_probe_part == 0;
        use = probe || meter_.model_pays() ? Drafting::Model::Yes : Drafting::Model::No;
    }
    return use == Drafting::Model::Yes && model_->catch_up(generation.sequence->id, generation.job->cache_key, generation.tokens);
}

void Speculation::run_model() {
    std::vector<DraftModel::DraftRequest> requests;
    std::vector<Generation *> generations;
    for (size_t i = 0; i < candidates_.size(); i++) {
        if (!candidates_[i].from_model || candidates_[i].n_chosen == 0) continue;
        generations.push_back(drafting_for_[i]);
        requests.push_back(
            {drafting_for_[i]->sequence->id, &drafting_for_[i]->tokens, candidates_[i].n_chosen, meter_.least_confidence(), {}});
    }
    if (requests.empty()) return;
    const auto begin = Clock::now();
    const uint32_t n_rounds = model_->draft(requests);
    meter_.observe_model(n_rounds, ms_between(begin, Clock::now()));
    for (size_t i = 0; i < requests.size(); i++) generations[i]->drafting.tokens = std::move(requests[i].draft);
}

bool Speculation::drop() {
    const bool drafted =
        std::any_of(candidates_.begin(), candidates_.end(), [](const auto & candidate) { return candidate.n_chosen > 0; });
    if (drafted) n_undrafted_ = kTuning.steps_without_drafts;
    return drafted;
}

void Speculation::judge(Drafting & drafting, size_t n_accepted) {
    for (size_t i = 0; drafting.from_model && i < std::min(n_accepted + 1, drafting.tokens.size()); i++) {
        drafting.model.observe(DraftKind::Model, i < n_accepted);
        meter_.acceptance().observe(DraftKind::Model, i < n_accepted);
    }
}

void Speculation::observe(uint32_t n_tokens, double ms) {
    meter_.observe(candidates_, n_tokens, ms + drafting_ms_, drafting_ms_);
}

void Speculation::publish(EngineStats & stats) const {
    stats.draft_allowance_ms = static_cast<float>(meter_.allowance_ms());
    for (size_t i = 0; i < kDraftKinds; i++)
        stats.draft_acceptance[i] = static_cast<float>(meter_.prior(static_cast<DraftKind>(i)));
}

}  // namespace svc
