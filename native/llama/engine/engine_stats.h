// What the engine thread lets others know: counts, and the estimates that steer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "../speculative/acceptance.h"

namespace svc {

// Written by the engine thread, read by the JS thread.
struct EngineStats {
    std::atomic<bool> device_failed{false};  // nothing is computed any more
    std::atomic<uint32_t> n_active{0};
    std::atomic<uint32_t> n_cells_used{0};
    std::atomic<uint64_t> n_prompt_tokens{0};
    std::atomic<uint64_t> n_cached_tokens{0};
    std::atomic<uint64_t> n_completion_tokens{0};
    std::atomic<uint64_t> n_drafted_tokens{0};
    std::atomic<uint64_t> n_accepted_tokens{0};
    std::atomic<uint64_t> n_steps{0};
    std::atomic<uint64_t> n_late_rows{0};  // sampled outside of steps, as their grammar takes too long
    std::atomic<uint64_t> n_tier_memory_bytes{0};
    std::atomic<uint64_t> n_tier_disk_bytes{0};
    std::atomic<uint64_t> n_tier_hits{0};
    std::atomic<uint64_t> n_restored_tokens{0};
    std::atomic<float> last_step_ms{0};

    // What steers; 0 where nothing is known yet.
    std::atomic<float> decode_step_ms{0};  // a step without prompts
    std::atomic<float> prefill_token_ms{0};
    std::atomic<float> prefill_token_depth_ms{0};  // more for each token in front
    std::atomic<uint32_t> n_compute_threads{0};
    std::atomic<float> compute_poll_us{0};
    std::atomic<float> compute_queued_share{0};
    std::atomic<float> kv_copy_bytes_per_ms{0};
    std::atomic<float> kv_disk_bytes_per_ms{0};
    std::atomic<float> draft_allowance_ms{0};
    std::array<std::atomic<float>, kDraftKinds> draft_acceptance{};
};

}  // namespace svc
