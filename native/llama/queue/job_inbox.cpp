#include "job_inbox.h"

#include <utility>

#include "../../common/memory_wait.h"
#include "../../common/status.h"
#include "../tuning/tuning.h"

namespace svc {

namespace {

// What the job holds, as bytes of text. Pixels counted as text would fill the queue with a few images.
size_t n_bytes_of(const JobOptions & job) {
    const auto & prompt = job.prompt;
    size_t n_bytes = prompt.messages_json.size() + prompt.tools_json.size() + prompt.template_kwargs_json.size() +
                     prompt.text.size() + prompt.tokens.size() * sizeof(llama_token);
    n_bytes +=
        job.json_schema.size() + job.tool_schemas.size() + job.grammar.size() + job.logit_bias.size() * sizeof(llama_logit_bias);
    for (const auto & text : job.stop) n_bytes += text.size();
    for (const auto & media : job.media) n_bytes += media.bytes.size() / kTuning.media_bytes_per_text_byte;
    return n_bytes;
}

}  // namespace

void JobInbox::add(const std::shared_ptr<Job> & job) {
    const auto & options = job->options;
    std::lock_guard lock(mutex_);
    if (news_.is_closing) throw StatusError("closed", "the engine is closed");
    job->n_queued_tokens = admission_.enter(options.tenant, n_bytes_of(options), options.timeout_ms);
    const uint32_t id = ids_.next([this](uint32_t used) { return by_id_.count(used) > 0; });
    try {
        by_id_.emplace(id, job);
    } catch (...) {
        leave_queue(*job);
        throw;
    }
    job->id = id;
}

void JobInbox::deliver(const std::shared_ptr<Job> & job) {
    const MemoryWait wait;
    std::lock_guard lock(mutex_);
    if (job->counted) {
        const uint64_t n_tokens = job->prompt.tokens.size() + AdmissionControl::tokens_of(n_bytes_of(job->options));
        admission_.recount(job->n_queued_tokens, n_tokens);
        job->n_queued_tokens = n_tokens;
    }
    news_.ready.push_back(job);
    // One that is cancelled while it is prepared is named again.
    if (job->cancelled) news_.cancelled.push_back(job->id);
    is_notified_ = true;
    changed_.notify_one();
}

void JobInbox::cancel(uint32_t id) {
    const MemoryWait wait;
    std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    found->second->cancelled = true;
    leave_queue(*found->second);
    news_.cancelled.push_back(id);
    is_notified_ = true;
    changed_.notify_one();
}

void JobInbox::set_paused(uint32_t id, bool paused) {
    std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    // First: who sees the flag sees the time that goes with it.
    if (paused) found->second->paused_since = Clock::now().time_since_epoch().count();
    found->second->paused = paused;
    is_notified_ = true;
    changed_.notify_one();
}

void JobInbox::leave_queue(Job & job) {
    if (job.counted.exchange(false)) admission_.leave(job.options.tenant, job.n_queued_tokens);
}

void JobInbox::forget(const Job & job) {
    std::lock_guard lock(mutex_);
    by_id_.erase(job.id);
}

JobInbox::News JobInbox::take(Wait wait) {
    std::unique_lock lock(mutex_);
    const auto is_awake = [this] { return news_.is_closing || is_notified_; };
    if (wait == Wait::Long) changed_.wait(lock, is_awake);
    else if (wait == Wait::Briefly) changed_.wait_for(lock, kTuning.idle_poll, is_awake);
    is_notified_ = false;
    News news = std::exchange(news_, {});
    news_.is_closing = news.is_closing;
    return news;
}

void JobInbox::notify() {
    std::lock_guard lock(mutex_);
    is_notified_ = true;
    changed_.notify_one();
}

void JobInbox::close() {
    std::lock_guard lock(mutex_);
    news_.is_closing = true;
    changed_.notify_all();
}

std::vector<std::shared_ptr<Job>> JobInbox::take_left() {
    const MemoryWait wait;
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Job>> left;
    for (auto & [id, job] : std::exchange(by_id_, {})) left.push_back(std::move(job));
    news_.ready.clear();
    return left;
}

}  // namespace svc
