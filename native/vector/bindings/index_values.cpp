#include "index_values.h"

#include "../../common/option_reader.h"

namespace svc {

namespace {

constexpr size_t kMostKeys = size_t{1} << 26;
// 2^32 keys.
constexpr size_t kMostWords = size_t{1} << 27;
constexpr size_t kMostNumbers = size_t{1} << 28;
constexpr uint32_t kMostHits = 10000;
constexpr uint32_t kMostRescored = 100000;

// What finds the nearest of embeddings as well as comparing all exactly does.
uint32_t rescored_by_default(Storage storage) { return storage == Storage::kBit ? 512 : 64; }

bool is_array_of(const Napi::Value & value, napi_typedarray_type type) {
    return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
}

uint64_t key_of(double number) {
    if (!(number >= 0 && number <= static_cast<double>(kMostKey)) || number != std::floor(number))
        OptionReader::refuse("keys", "safe integers from 0 up");
    return static_cast<uint64_t>(number);
}

uint64_t key_of(uint64_t number) {
    if (number > kMostKey) OptionReader::refuse("keys", "safe integers from 0 up");
    return number;
}

template <typename Array> std::vector<uint64_t> copied_keys(const Array & array) {
    if (array.ElementLength() > kMostKeys) OptionReader::refuse("keys", "at most " + std::to_string(kMostKeys));
    std::vector<uint64_t> keys;
    keys.reserve(array.ElementLength());
    for (size_t i = 0; i < array.ElementLength(); i++) keys.push_back(key_of(array.Data()[i]));
    return keys;
}

}  // namespace

IndexOptions index_options(const Napi::Value & value) {
    if (!value.IsObject()) OptionReader::refuse("options", "an object");
    const auto object = value.As<Napi::Object>();
    const OptionReader from(object);
    IndexOptions options;
    if (!from.has("dimensions")) OptionReader::refuse("dimensions", "given");
    from.integer("dimensions", options.rows.dims, 1, kMostDims);
    from.choice<Storage>("storage", options.rows.storage,
                         {{"f16", Storage::kHalf}, {"i8", Storage::kByte}, {"b1", Storage::kBit}});
    from.string("exactFolder", options.rows.exact_folder);
    if (options.rows.exact_folder.find('\0') != std::string::npos) OptionReader::refuse("exactFolder", "the path of a folder");
    options.rescored = rescored_by_default(options.rows.storage);
    from.integer("rescored", options.rescored, 0, kMostRescored);
    from.string("label", options.label);
    if (options.label.size() > kMostLabelBytes)
        OptionReader::refuse("label", "at most " + std::to_string(kMostLabelBytes) + " bytes of text");
    from.integer("connectivity", options.graph.connectivity, kLeastConnectivity, kMostConnectivity);
    from.integer("expansionAdd", options.graph.expansion_add, 8, 4096);
    from.integer("expansionSearch", options.graph.expansion_search, 8, 4096);
    from.integer("exactBelow", options.exact_below, 0, kMostRows);
    return options;
}

std::vector<uint64_t> keys_of(const Napi::Value & value) {
    if (is_array_of(value, napi_float64_array)) return copied_keys(value.As<Napi::Float64Array>());
    if (is_array_of(value, napi_biguint64_array)) return copied_keys(value.As<Napi::BigUint64Array>());
    OptionReader::refuse("keys", "a Float64Array or a BigUint64Array");
}

std::vector<float> numbers_of(const Napi::Value & value, uint32_t dims) {
    if (!is_array_of(value, napi_float32_array)) OptionReader::refuse("vectors", "a Float32Array");
    const auto array = value.As<Napi::Float32Array>();
    if (array.ElementLength() > kMostNumbers)
        OptionReader::refuse("vectors", "at most " + std::to_string(kMostNumbers) + " numbers");
    if (array.ElementLength() % dims != 0)
        OptionReader::refuse("vectors", "whole vectors of " + std::to_string(dims) + " numbers");
    return {array.Data(), array.Data() + array.ElementLength()};
}

AllowedKeys allowed_of(const Napi::Value & value) {
    if (value.IsUndefined()) return AllKeys{};
    if (!is_array_of(value, napi_uint32_array)) return keys_of(value);
    const auto array = value.As<Napi::Uint32Array>();
    if (array.ElementLength() > kMostWords) OptionReader::refuse("allowed", "at most " + std::to_string(kMostWords) + " words");
    return KeyBits{{array.Data(), array.Data() + array.ElementLength()}};
}

uint32_t k_of(const Napi::Value & value) {
    const double k = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0;
    if (!(k >= 1 && k <= kMostHits) || k != std::floor(k))
        OptionReader::refuse("k", "a whole number from 1 to " + std::to_string(kMostHits));
    return static_cast<uint32_t>(k);
}

}  // namespace svc
