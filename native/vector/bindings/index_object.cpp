#include "index_object.h"

#include "../../common/env_state.h"
#include "../../common/promise_thread.h"
#include "../../common/promise_worker.h"
#include "../../common/type_tags.h"
#include "../index/index_file.h"
#include "index_values.h"

namespace svc {

namespace {

using Hits = std::vector<std::vector<KeyHit>>;

struct Addition {
    std::vector<uint64_t> keys;
    std::vector<float> numbers;
};

struct Question {
    std::vector<float> numbers;
    uint32_t k;
    AllowedKeys allowed;
};

Addition addition_of(const Napi::CallbackInfo & info, uint32_t dims) {
    Addition addition{keys_of(info[0]), numbers_of(info[1], dims)};
    if (addition.numbers.size() != addition.keys.size() * dims)
        throw StatusError("invalid_argument", "there must be one vector for each key");
    return addition;
}

void add_to(VectorIndex & index, const Addition & addition) {
    index.add(addition.keys, UnitVectors(addition.numbers.data(), addition.keys.size(), index.options().rows.dims));
}

Question question_of(const Napi::CallbackInfo & info, uint32_t dims) {
    return {numbers_of(info[0], dims), k_of(info[1]), allowed_of(info[2])};
}

Hits answer(const VectorIndex & index, const Question & question) {
    const auto dims = index.options().rows.dims;
    return index.search(UnitVectors(question.numbers.data(), question.numbers.size() / dims, dims), question.k, question.allowed);
}

// {keys, scores, counts}: the hits of all queries, one after the other, and how many each has.
Napi::Value hits_object(Napi::Env env, const Hits & hits) {
    size_t n_hits = 0;
    for (const auto & list : hits) n_hits += list.size();
    auto keys = Napi::Float64Array::New(env, n_hits);
    auto scores = Napi::Float32Array::New(env, n_hits);
    auto counts = Napi::Uint32Array::New(env, hits.size());
    size_t at = 0;
    for (size_t i = 0; i < hits.size(); i++) {
        counts[i] = static_cast<uint32_t>(hits[i].size());
        for (const auto & hit : hits[i]) {
            keys[at] = static_cast<double>(hit.key);
            scores[at++] = hit.score;
        }
    }
    auto to = Napi::Object::New(env);
    to.Set("keys", keys);
    to.Set("scores", scores);
    to.Set("counts", counts);
    return to;
}

// A promise of work that has no result. `Promise`: PromiseThread for what grows with the whole index.
template <template <typename> typename Promise = PromiseThread, typename Work> Napi::Value promise(Napi::Env env, Work work) {
    return Promise<bool>::start(
        env,
        [work = std::move(work)] {
            work();
            return true;
        },
        [](Napi::Env e, bool &) { return e.Undefined(); });
}

}  // namespace

void IndexObject::define(Napi::Env env) {
    auto constructor = DefineClass(env, "Index",
                                   {
                                       InstanceMethod("addNow", &IndexObject::add_now),
                                       InstanceMethod("removeNow", &IndexObject::remove_now),
                                       InstanceMethod("searchNow", &IndexObject::search_now),
                                       InstanceMethod("similarity", &IndexObject::similarity),
                                       InstanceMethod("keys", &IndexObject::keys),
                                       InstanceMethod("stats", &IndexObject::stats),
                                       InstanceMethod("add", &IndexObject::add),
                                       InstanceMethod("remove", &IndexObject::remove),
                                       InstanceMethod("search", &IndexObject::search),
                                       InstanceMethod("link", &IndexObject::link),
                                       InstanceMethod("compact", &IndexObject::compact),
                                       InstanceMethod("save", &IndexObject::save),
                                       InstanceMethod("close", &IndexObject::close),
                                   });
    EnvState::of(env).constructors["Index"] = Napi::Persistent(constructor);
}

Napi::Object IndexObject::wrap(Napi::Env env, std::shared_ptr<VectorIndex> index) {
    return EnvState::of(env).constructors.at("Index").New({tagged(env, &index, kIndexTag)});
}

IndexObject::IndexObject(const Napi::CallbackInfo & info) : Napi::ObjectWrap<IndexObject>(info) {
    index_ = untagged<std::shared_ptr<VectorIndex>>(info[0], kIndexTag, "indexes come from createIndex() and openIndex()");
    Value().TypeTag(&kIndexTag);
    // Linking that is under way when a thread ends would hold it up. An index that nobody has any more closes by itself.
    constructing(info.Env(), [&] {
        EnvState::of(info.Env()).closers[index_.get()] = [weak = std::weak_ptr(index_)] {
            if (const auto index = weak.lock()) index->close();
        };
    });
}

void IndexObject::Finalize(Napi::Env env) { EnvState::of(env).closers.erase(index_.get()); }

Napi::Value IndexObject::add_now(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        add_to(*index_, addition_of(info, index_->options().rows.dims));
        return info.Env().Undefined();
    });
}

Napi::Value IndexObject::remove_now(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), index_->remove(keys_of(info[0]))); });
}

Napi::Value IndexObject::search_now(const Napi::CallbackInfo & info) {
    return guarded(info.Env(),
                   [&] { return hits_object(info.Env(), answer(*index_, question_of(info, index_->options().rows.dims))); });
}

// similarity(query, keys): of the first key alone.
Napi::Value IndexObject::similarity(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const auto dims = index_->options().rows.dims;
        const auto numbers = numbers_of(info[0], dims);
        const auto keys = keys_of(info[1]);
        if (numbers.size() != dims || keys.size() != 1)
            throw StatusError("invalid_argument", "similarity takes a vector and a key");
        const auto cosine = index_->similarity(UnitVectors(numbers.data(), 1, dims), keys[0]);
        if (!cosine) return info.Env().Undefined();
        return Napi::Number::New(info.Env(), *cosine);
    });
}

Napi::Value IndexObject::keys(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const auto keys = index_->keys();
        auto to = Napi::Float64Array::New(info.Env(), keys.size());
        for (size_t i = 0; i < keys.size(); i++) to[i] = static_cast<double>(keys[i]);
        return to;
    });
}

Napi::Value IndexObject::stats(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const auto stats = index_->stats();
        auto to = Napi::Object::New(info.Env());
        to.Set("nVectors", stats.n_alive);
        to.Set("nRemoved", stats.n_removed);
        to.Set("nLinked", stats.n_linked);
        to.Set("nUnlinked", stats.n_unlinked);
        to.Set("sizeBytes", static_cast<double>(stats.size_bytes));
        return to;
    });
}

Napi::Value IndexObject::add(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        auto addition = std::make_shared<Addition>(addition_of(info, index_->options().rows.dims));
        return promise<PromiseWorker>(info.Env(), [index = index_, addition] { add_to(*index, *addition); });
    });
}

Napi::Value IndexObject::remove(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        return PromiseWorker<uint32_t>::start(
            info.Env(), [index = index_, keys = keys_of(info[0])] { return index->remove(keys); },
            [](Napi::Env e, uint32_t & n_removed) { return Napi::Number::New(e, n_removed); });
    });
}

Napi::Value IndexObject::search(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        auto question = std::make_shared<Question>(question_of(info, index_->options().rows.dims));
        return PromiseWorker<Hits>::start(
            info.Env(), [index = index_, question] { return answer(*index, *question); },
            [](Napi::Env e, Hits & hits) { return hits_object(e, hits); });
    });
}

Napi::Value IndexObject::link(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return promise(info.Env(), [index = index_] { index->link(); }); });
}

Napi::Value IndexObject::compact(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return promise(info.Env(), [index = index_] { index->compact(); }); });
}

Napi::Value IndexObject::save(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        if (!info[0].IsString()) throw StatusError("invalid_argument", "'path' must be a string");
        return promise(info.Env(), [index = index_, path = info[0].As<Napi::String>().Utf8Value()] { index->save(path); });
    });
}

Napi::Value IndexObject::close(const Napi::CallbackInfo & info) {
    const MemoryWait wait;
    EnvState::of(info.Env()).closers.erase(index_.get());
    return promise(info.Env(), [index = index_] { index->close(); });
}

Napi::Value create_index(const Napi::CallbackInfo & info) {
    return guarded(info.Env(),
                   [&] { return IndexObject::wrap(info.Env(), std::make_shared<VectorIndex>(index_options(info[0]))); });
}

Napi::Value open_index(const Napi::CallbackInfo & info) {
    using Opened = std::shared_ptr<VectorIndex>;
    return guarded(info.Env(), [&] {
        if (!info[0].IsString() || !info[2].IsBoolean())
            throw StatusError("invalid_argument", "openIndex takes a path, options and whether to view");
        const bool is_viewed = info[2].As<Napi::Boolean>().Value();
        return PromiseThread<Opened>::start(
            info.Env(),
            [path = info[0].As<Napi::String>().Utf8Value(), options = index_options(info[1]), is_viewed]() mutable {
                auto state = is_viewed ? view_index(path, options) : load_index(path, options);
                return std::make_shared<VectorIndex>(options, std::move(state));
            },
            [](Napi::Env e, Opened & index) { return IndexObject::wrap(e, index); });
    });
}

}  // namespace svc
