// What the next step's batch holds: whose turn it is, tokens to decode, parts of prompts, and rows that fill gaps.
#include <algorithm>

#include "engine.h"

namespace svc {

namespace {

// Ageing of waiting prefills: a prompt counts as this many tokens shorter for each millisecond that it waited.
constexpr double kAgeTokensPerMs = 2.0;
// It counts as so many tokens longer for each other sequence that its tenant runs.
constexpr double kSiblingTokens = 512;
// A prompt this long lets one that ends go ahead alone.
constexpr size_t kTokensToHurry = 1024;
// As many tokens may be added to a chunk that ends a prompt, as they would cost a pass of their own: to the first of a step, if
// it is not efficient yet, up to kMostTail (8 layers of 512, 3 streams, prompts of 215 tokens where 140 have room: 5 % more
// tokens a second than in two chunks).
constexpr uint32_t kTail = PrefillBudget::kTile / 2;
constexpr uint32_t kMostTail = PrefillBudget::kTile * 3 / 2;
constexpr llama_token kFillerToken = 0;

}  // namespace

// Adapters apply to a whole batch, so a step serves the sequences of one adapter set: the one that waited longest. Null when
// nobody can go on.
const std::string * Engine::choose_lora() {
    const Generation * next = nullptr;
    for (const auto * generation : generations_) {
        const bool decodes = generation->state == Generation::State::Decode && !generation->job->paused;
        if (!decodes && generation->state != Generation::State::Prefill) continue;
        if (!next || generation->last_turn < next->last_turn) next = generation;
    }
    if (!next) return nullptr;
    n_turns_++;
    for (auto * generation : generations_) {
        if (generation->job->lora_key == next->job->lora_key) generation->last_turn = n_turns_;
    }
    return &next->job->lora_key;
}

void Engine::plan_decode(const std::string & lora) {
    for (auto * generation : generations_) {
        if (generation->state != Generation::State::Decode || generation->job->paused || generation->job->lora_key != lora)
            continue;
        if (in_step_.size() >= static_cast<size_t>(batch_->room())) break;
        generation->n_planned = 1;
        in_step_.push_back(generation);
    }
    if (!speculation_) return;
    sort_by_sequence();
    speculation_->plan(
        in_step_, [this](llama_seq_id from, llama_seq_id to) { return sequences_->can_fill(from, to); }, *compute_);
}

// Prompts that could go on: shortest remaining first, with ageing so that long ones are not starved, and those of tenants that
// run much later.
std::vector<Generation *> Engine::prompts_in_order(const std::string & lora) const {
    std::vector<std::pair<double, Generation *>> ranked;
    const auto now = Clock::now();
    for (auto * generation : generations_) {
        const auto & job = *generation->job;
        if (generation->state != Generation::State::Prefill || job.lora_key != lora) continue;
        const auto n_left = static_cast<double>(generation->n_remaining_prefill());
        ranked.emplace_back(n_left - kAgeTokensPerMs * ms_between(job.admitted, now), generation);
    }
    if (ranked.empty()) return {};
    auto n_running = count_running();
    for (auto & [tokens, generation] : ranked) tokens += kSiblingTokens * (n_running[generation->job->options.tenant] - 1);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto & a, const auto & b) { return a.first < b.first; });
    std::vector<Generation *> ordered;
    for (const auto & entry : ranked) ordered.push_back(entry.second);
    return ordered;
}

void Engine::plan_prefill(const std::string & lora) {
    const auto waiting = prompts_in_order(lora);
    if (waiting.empty()) return budget_->end_burst();
    PrefillBudget::Prompts prompts{waiting.size(), 0, waiting.front()->sequence->tokens.size(), !waiting_.empty(),
                                   compute_->has_company()};
    for (const auto * generation : waiting) prompts.n_tokens += generation->n_remaining_prefill();
    const bool hurries = in_step_.empty() && waiting.back()->n_remaining_prefill() > kTokensToHurry;
    auto room = prefill_room(prompts);
    for (auto * generation : waiting) {
        const size_t n_left = generation->n_remaining_prefill();
        const bool may_grow = generation == waiting.front() && room < PrefillBudget::kEfficient;
        const uint32_t tail = may_grow ? std::clamp(room * 2 / 3, kTail, kMostTail) : kTail;
        if (n_left > room && n_left <= room + tail) room = std::min(room + tail, n_free_rows());
        const bool ends = n_left <= room;
        // Less than a tile of a prompt is not worth a pass, unless it is all that there is room for.
        if (!ends && room < PrefillBudget::kTile && generation != waiting.front()) return;
        room -= plan_prompt(*generation, room);
        // An answer begins after this step: those whose prompts go on do not make it wait for long.
        if (ends && hurries) room = std::min(room, PrefillBudget::kTile);
    }
}

// Rows that the batch has left.
uint32_t Engine::n_free_rows() const { return static_cast<uint32_t>(batch_->room()) - n_planned_rows(); }

// Prompt tokens that go with what decodes in this step.
uint32_t Engine::prefill_room(const PrefillBudget::Prompts & prompts) {
    const auto n_decoding = static_cast<uint32_t>(in_step_.size());
    const uint32_t n_rows = n_planned_rows();
    auto room = budget_->tokens(n_decoding, prompts);
    // Drafted rows take the place of prompt tokens.
    room -= std::min(room, n_rows - n_decoding);
    // Beside other rows, llama.cpp's passes take one token of a prompt along with those, or in a common buffer all of the chunk.
    if (n_decoding > 0 && room > 0 && room % PrefillBudget::kTile == 0)
        room = sequences_->is_common_buffer() ? room - n_rows % PrefillBudget::kTile : room + 1;
    return std::min(room, n_free_rows());
}

uint32_t Engine::n_planned_rows() const {
    uint32_t n_rows = 0;
    for (const auto * generation : in_step_) n_rows += generation->n_planned;
    return n_rows;
}

// With a buffer for each sequence, llama.cpp evaluates consecutive ones together.
void Engine::sort_by_sequence() {
    std::sort(in_step_.begin(), in_step_.end(),
              [](const Generation * a, const Generation * b) { return a->sequence->id < b->sequence->id; });
}

// Takes the next part of the prompt into the step; returns the number of tokens. It ends before an image: run_media() takes that.
uint32_t Engine::plan_prompt(Generation & generation, uint32_t n_most) {
    const auto begin = generation.tokens.begin() + static_cast<std::ptrdiff_t>(generation.sequence->tokens.size());
    const auto n_left = std::min<std::ptrdiff_t>(generation.tokens.end() - begin, n_most);
    const auto end = std::find(begin, begin + n_left, LLAMA_TOKEN_NULL);
    generation.n_planned = static_cast<uint32_t>(end - begin);
    if (generation.n_planned > 0) in_step_.push_back(&generation);
    return generation.n_planned;
}

void Engine::build_batch() {
    sort_by_sequence();
    n_spare_rows_ = n_free_rows();
    llama_seq_id last = -1;
    for (auto * generation : in_step_) {
        const auto & sequence = *generation->sequence;
        if (last >= 0) fill_gap(last + 1, sequence.id);
        last = sequence.id;
        if (generation->state == Generation::State::Prefill) add_prompt(*generation);
        else add_next(*generation);
    }
}

// The generation's next token, and what was drafted behind it.
void Engine::add_next(Generation & generation) {
    const auto & sequence = *generation.sequence;
    auto pos = sequence.n_pos;
    generation.batch_index = batch_->add(generation.next, pos, sequence.id, true);
    for (auto token : generation.drafting.tokens) batch_->add(token, ++pos, sequence.id, true);
}

void Engine::add_prompt(Generation & generation) {
    const auto & sequence = *generation.sequence;
    const size_t begin = sequence.tokens.size();
    for (size_t i = begin; i < begin + generation.n_planned; i++) {
        const bool last = i + 1 == generation.tokens.size();
        const auto pos = sequence.n_pos + static_cast<llama_pos>(i - begin);
        const int32_t row = batch_->add(generation.tokens[i], pos, sequence.id, last);
        if (last) generation.batch_index = row;
    }
}

// With a buffer for each sequence, llama.cpp evaluates a run of consecutive ids in one pass, and every further run in a pass of
// its own that reads all weights again (8 layers of 512, 16 streams on 2 cores: 1,470 tok/s without gaps, 350 with gaps between
// all). A row that nobody asked for costs less than a pass: it closes the gap and is forgotten after the step.
void Engine::fill_gap(llama_seq_id from, llama_seq_id to) {
    const auto n_rows = static_cast<uint32_t>(to - from);
    if (n_rows > n_spare_rows_ || !sequences_->can_fill(from, to)) return;
    for (auto id = from; id < to; id++) {
        batch_->add(kFillerToken, sequences_->filler_pos(id), id, false);
        fillers_.push_back(id);
    }
    n_spare_rows_ -= n_rows;
}

}  // namespace svc
