#include "chat_reader.h"

#include <algorithm>
#include <new>
#include <random>

#include "chat-peg-parser.h"

namespace svc {

namespace {

// The parser may read so many bytes at the start, and so many more for each byte of the answer.
constexpr size_t kFreeBytes = 1 << 20;
constexpr size_t kBytesForEach = 16;

// OpenAI's form: call_ and 24 letters or digits.
std::string make_tool_id() {
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    thread_local std::mt19937_64 random(std::random_device{}());
    std::string id = "call_";
    for (int i = 0; i < 24; i++) id += alphabet[random() % (sizeof alphabet - 1)];
    return id;
}

std::unique_ptr<common_chat_peg_mapper> mapper_of(common_chat_format format, common_chat_msg & message) {
    if (format == COMMON_CHAT_FORMAT_PEG_GEMMA4) return std::make_unique<common_chat_peg_gemma4_mapper>(message);
    if (format == COMMON_CHAT_FORMAT_PEG_MINIMAX_M3) return std::make_unique<common_chat_peg_minimax_m3_mapper>(message);
    return std::make_unique<common_chat_peg_mapper>(message);
}

}  // namespace

std::vector<common_chat_msg_diff> ChatReader::read(std::string_view text, bool final) {
    nesting_.read(text.substr(std::min(n_seen_, text.size())));
    n_seen_ = text.size();
    if (field_ && !final) {
        std::string added;
        if (field_->read(rules_, text, added)) {
            if (added.empty()) return {};
            return {field_->append(message_, added)};
        }
        field_.reset();
    }
    if (nesting_.exceeded()) return final ? rest_as_content(text) : std::vector<common_chat_msg_diff>();
    if (!final && n_parsed_bytes_ + n_seen_ > kFreeBytes + kBytesForEach * n_seen_) return {};
    return parse(text, final);
}

// common_chat_parse() does the same, but keeps the tree to itself and logs what users said.
std::vector<common_chat_msg_diff> ChatReader::parse(std::string_view text, bool final) {
    n_parses_++;
    n_parsed_bytes_ += text.size();
    try {
        common_peg_parse_context context(parser_.generation_prompt + std::string(text), COMMON_PEG_PARSE_FLAG_LENIENT);
        const auto result = parser_.parser.parse(context);
        if (result.fail() && (final || result.end == 0)) throw std::runtime_error("the answer does not follow its format");
        auto parsed = understood(context, result);
        if (parsed.empty()) return {};
        parsed.set_tool_call_ids(tool_ids_, make_tool_id);
        auto diffs = common_chat_msg_diff::compute_diffs(message_, parsed);
        message_ = std::move(parsed);
        if (!result.fail()) field_ = AnswerField::find(rules_, context, result, message_, text.size());
        return diffs;
    } catch (const std::bad_alloc &) {
        throw;  // says nothing about the answer
    } catch (const std::exception &) {
        // The model broke the format, or a partial parse took something back, which the next one settles. What was understood
        // stays; where nothing was, the text goes out as it is.
        if (!final || !message_.empty()) return {};
        common_chat_msg_diff diff;
        diff.content_delta = text;
        return {diff};
    }
}

// What was understood stays. Arguments of a call cannot be completed; they end where they are, as those of an answer that was cut
// off.
std::vector<common_chat_msg_diff> ChatReader::rest_as_content(std::string_view text) const {
    if (!message_.tool_calls.empty()) return {};
    const auto & last = message_.content.empty() ? message_.reasoning_content : message_.content;
    const size_t at = text.find(last);
    common_chat_msg_diff diff;
    diff.content_delta = text.substr(at == std::string_view::npos ? text.size() : at + last.size());
    if (diff.content_delta.empty()) return {};
    return {diff};
}

common_chat_msg ChatReader::understood(const common_peg_parse_context & context, const common_peg_parse_result & result) const {
    common_chat_msg message;
    message.role = "assistant";
    mapper_of(parser_.format, message)->from_ast(context.ast, result);
    return message;
}

}  // namespace svc
