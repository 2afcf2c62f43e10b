// step-plan-test [FLAG]... CANDIDATE...: what a step makes of a state. Prints one word for each sequence that gets rows,
// `SEQUENCE:ROWS`, in the order of the batch (`SEQUENCE:pad` for a row that fills a gap), or `image SEQUENCE`, or `nothing`.
//   CANDIDATE  SEQUENCE=decode, SEQUENCE=N (tokens of a prompt that are left) or SEQUENCE=image; behind it, in any order, `+N`
//              drafted tokens, `@NAME` adapters, `/N` the last turn of these, `!` an evaluation failed with it.
//   FLAG       batch=N and physical=N rows, open (gaps cannot be filled), unified, was_image.
// The machine: 0.2 ms a row, 5 ms for a step that decodes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../planning/step_planner.h"

namespace {

using namespace svc;

struct Scene {
    StepState state;
    std::vector<uint32_t> n_drafted;  // of each candidate
    bool is_open = false;
};

// The number behind the mark, or `otherwise`.
uint32_t number_behind(const char * word, char mark, uint32_t otherwise) {
    const char * at = std::strchr(word, mark);
    return at ? static_cast<uint32_t>(std::atoi(at + 1)) : otherwise;
}

void add_candidate(Scene & scene, const char * word) {
    auto & candidate = scene.state.candidates.emplace_back();
    candidate.sequence = std::atoi(word);
    const char * what = std::strchr(word, '=') + 1;
    candidate.is_at_image = std::strncmp(what, "image", 5) == 0;
    candidate.is_prefilling = std::strncmp(what, "decode", 6) != 0;
    candidate.prompt.n_left = candidate.is_prefilling && !candidate.is_at_image ? static_cast<size_t>(std::atoi(what)) : 0;
    candidate.is_suspect = std::strchr(what, '!') != nullptr;
    candidate.last_turn = number_behind(what, '/', 0);
    const char * adapters = std::strchr(what, '@');
    if (adapters) candidate.adapters = std::string_view(adapters + 1, std::strcspn(adapters + 1, "+/!"));
    scene.n_drafted.push_back(number_behind(what, '+', 0));
}

Scene read(int count, char ** words) {
    Scene scene;
    scene.state.n_batch_rows = 2048;
    scene.state.n_physical_rows = 512;
    for (int i = 0; i < count; i++) {
        const std::string word = words[i];
        if (word == "open") scene.is_open = true;
        else if (word == "unified") scene.state.is_unified = true;
        else if (word == "was_image") scene.state.was_image = true;
        else if (word.rfind("batch=", 0) == 0) scene.state.n_batch_rows = number_behind(words[i], '=', 0);
        else if (word.rfind("physical=", 0) == 0) scene.state.n_physical_rows = number_behind(words[i], '=', 0);
        else add_candidate(scene, words[i]);
    }
    return scene;
}

StepEstimates settled_estimates() {
    StepEstimates estimates;
    for (int i = 0; i < 60; i++) {
        estimates.observe({25.6, 0, 128, 0});
        estimates.observe({5, 1, 0, 0});
    }
    return estimates;
}

void print(const Scene & scene, const StepPlan & plan) {
    const char * space = "";
    for (const auto & planned : plan.rows) {
        const auto sequence = scene.state.candidates[planned.candidate].sequence;
        for (auto id = sequence - static_cast<llama_seq_id>(planned.n_padding); id < sequence; id++, space = " ")
            std::printf("%s%d:pad", space, id);
        std::printf("%s%d:%u", space, sequence, planned.n_rows);
        space = " ";
    }
    std::printf("\n");
}

int show(const Scene & scene) {
    const auto turn = choose_turn(scene.state);
    std::vector<uint32_t> n_rows;
    for (const size_t i : turn.decoding) n_rows.push_back(1 + scene.n_drafted[i]);
    const auto plan =
        plan_step(scene.state, turn, n_rows, settled_estimates(), [&](llama_seq_id, llama_seq_id) { return !scene.is_open; });
    const auto image = turn.image ? turn.image : plan.rows.empty() ? turn.image_instead : std::nullopt;
    if (image) std::printf("image %d\n", scene.state.candidates[*image].sequence);
    else if (plan.rows.empty()) std::printf("nothing\n");
    else print(scene, plan);
    return 0;
}

}  // namespace

int main(int argc, char ** argv) { return show(read(argc - 1, argv + 1)); }
