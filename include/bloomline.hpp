// SPDX-License-Identifier: MIT OR Apache-2.0
//
// bloomline.hpp - the C++17 face of bloomline.h: handles that free themselves, keys from
// strings and integers, batches from vectors. Header only, and uses bloomline.h only, where
// every function is documented; the rules at its top hold here too.
//
// Nothing here throws of its own, and it compiles with -fno-exceptions -fno-rtti. What can
// fail returns a Status, or a Result, which is a Status and a value:
//
//     auto filter = bloomline::Filter::create(bloomline::params_for_rate(1000, 0.01));
//     if (!filter) return std::fputs(filter.message(), stderr);
//     filter->insert(bloomline::text("apple"));
//     filter->insert_u64(42);
//     assert(filter->contains(std::string("apple")));
//
// A key is a container, a pointer and a size, or text("..."). An array of char or a char pointer
// does not compile as a key: the compiler cannot tell text that ends in a NUL from a key of N
// bytes, and to guess wrong would be a false negative. See Bytes.
//
// What borrows from a temporary does not compile: view() and get() of one, View::open() and keys()
// of a container that is one, and -> on a Result that is one.
//
// A handle that is empty (made by default, moved from, or out of a failed Result) is safe to
// use: it says that it may contain every key, and ignores what is inserted.

#ifndef BLOOMLINE_HPP
#define BLOOMLINE_HPP

#include "bloomline.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Deleted functions say why, with compilers that can (C++26).
#if defined(__cpp_deleted_function) && __cpp_deleted_function >= 202403L
#define BLOOMLINE_DELETED(why) = delete(why)
#else
#define BLOOMLINE_DELETED(why) = delete
#endif

namespace bloomline {
/// Its name is that of the binary interface: objects compiled against another one have other
/// classes, which do not meet these at a link.
inline namespace abi_0 {

static_assert(BLOOMLINE_ABI_VERSION == 0, "rename the namespace to the new number");

/// The binary interface that this header was written for.
inline constexpr std::uint32_t abi_version = BLOOMLINE_ABI_VERSION;

/// Whether the library that is linked or loaded has that binary interface.
inline bool abi_matches() noexcept { return bloomline_abi_version() == abi_version; }

inline const char *version() noexcept { return bloomline_version(); }
inline const char *backend() noexcept { return bloomline_backend(); }

/// BLOOMLINE_OK, or what went wrong; true if it is BLOOMLINE_OK.
class [[nodiscard]] Status {
public:
    constexpr Status(bloomline_status code = BLOOMLINE_OK) noexcept : code_(code) {}
    constexpr explicit operator bool() const noexcept { return code_ == BLOOMLINE_OK; }
    constexpr bloomline_status code() const noexcept { return code_; }
    const char *message() const noexcept { return bloomline_status_message(code_); }

private:
    bloomline_status code_;
};

/// A value, or a Status that says why there is none; true if there is a value. Without one,
/// the value is what T is by default. Give a Result a name before -> : only members of plain
/// structs, such as Params, can be read from a temporary one.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) noexcept : value_(std::move(value)) {}
    Result(Status status) noexcept : status_(status) {}
    explicit operator bool() const noexcept { return bool(status_); }
    Status status() const noexcept { return status_; }
    bloomline_status code() const noexcept { return status_.code(); }
    const char *message() const noexcept { return status_.message(); }
    T &operator*() & noexcept { return value_; }
    const T &operator*() const & noexcept { return value_; }
    T operator*() && noexcept { return std::move(value_); }
    const T &operator*() const && BLOOMLINE_DELETED("the Result is a temporary");
    T *operator->() & noexcept { return &value_; }
    const T *operator->() const & noexcept { return &value_; }
    template <class U = T, std::enable_if_t<std::is_aggregate_v<U>, int> = 0>
    const U *operator->() const && noexcept { return &value_; }
    template <class U = T, std::enable_if_t<!std::is_aggregate_v<U>, int> = 0>
    const U *operator->() const && BLOOMLINE_DELETED("the Result is a temporary: name it first");

private:
    Status status_;
    T value_{};
};

/// A caller-owned array: a pointer and a size, an array, or anything with data() and size(), such
/// as std::vector, std::array and std::span.
template <class T>
class Span {
public:
    constexpr Span() noexcept = default;
    constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    // {0, 5} is not a null pointer and a size, but two elements.
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    Span(I, std::size_t) BLOOMLINE_DELETED("an integer is no pointer: give an array or a container");
    template <std::size_t N>
    constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<
                           std::remove_pointer_t<decltype(std::declval<C &>().data())> (*)[],
                           T (*)[]>>>
    constexpr Span(C &&container) noexcept : data_(container.data()), size_(container.size()) {}
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/// Caller-owned bytes, such as a key or a file, of which all are taken, NULs too:
///
///     text("apple"), "apple"sv        5 bytes; a string literal alone does not compile
///     {pointer, size}                 'size' bytes
///     std::string, std::string_view, std::vector<std::uint8_t>, std::array<char, 8>, a Slice: what
///         has data(), size() and elements of one byte
///     unsigned char[N], std::uint8_t[N], std::byte[N]                             N bytes
///
/// An array of char does not compile: say text(array) for what is before its NUL, or
/// {array, sizeof array} for all of it. Nor does a char pointer: text(pointer), {pointer, size}.
class Bytes {
public:
    constexpr Bytes() noexcept = default;
    constexpr Bytes(const void *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    Bytes(I, std::size_t) BLOOMLINE_DELETED("an integer is no pointer");
    // Of char, arrays and literals too: text("..."), "..."sv, {pointer, size}
    Bytes(const char *) BLOOMLINE_DELETED("say text(p) for a C string, {p, size} for bytes");
    Bytes(std::nullptr_t) = delete;
    template <class B, std::size_t N,
              class = std::enable_if_t<std::is_same_v<B, unsigned char> ||
                                       std::is_same_v<B, signed char> || std::is_same_v<B, std::byte>>>
    constexpr Bytes(const B (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<sizeof(*std::declval<const C &>().data()) == 1>>
    constexpr Bytes(const C &container) noexcept
        : data_(container.data()), size_(container.size()) {}
    constexpr const void *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    operator bloomline_bytes() const noexcept {
        return {static_cast<const std::uint8_t *>(data_), size_};
    }

private:
    const void *data_ = nullptr;
    std::size_t size_ = 0;
};

/// The bytes of a C string before its NUL. A null pointer is a key that may be present in every
/// filter; inserted or hashed, it is the empty key.
constexpr Bytes text(const char *string) noexcept {
    return string == nullptr ? Bytes(nullptr, 1)
                             : Bytes(string, std::char_traits<char>::length(string));
}

/// An integer as a key: its 8 bytes, least significant first, on every CPU.
class IntegerKey {
public:
    constexpr explicit IntegerKey(std::uint64_t key) noexcept {
        for (int i = 0; i < 8; i++) bytes_[i] = static_cast<std::uint8_t>(key >> (8 * i));
    }
    constexpr const std::uint8_t *data() const noexcept { return bytes_; }
    constexpr std::size_t size() const noexcept { return sizeof bytes_; }

private:
    std::uint8_t bytes_[8] = {};
};

namespace detail {

// Whether what T::data() points at goes away with a T. What only borrows needs no destructor, and
// a const one of it lends what it lends otherwise (std::string_view, std::span, a Slice).
template <class T, class = void>
struct Owns : std::bool_constant<!std::is_trivially_destructible_v<T>> {};
template <class T>
struct Owns<T, std::void_t<decltype(std::declval<T &>().data())>>
    : std::bool_constant<!std::is_trivially_destructible_v<T> ||
                         !std::is_same_v<decltype(std::declval<T &>().data()),
                                         decltype(std::declval<const T &>().data())>> {};
template <>
struct Owns<IntegerKey, void> : std::true_type {};

/// Whether a T&& of a template is a temporary that owns what it has.
template <class T>
inline constexpr bool owns = Owns<std::remove_cv_t<std::remove_reference_t<T>>>::value;
template <class T>
inline constexpr bool owning_temporary = !std::is_lvalue_reference_v<T> && owns<T>;

// What a loop over a C gets at each step.
template <class C>
using Element = decltype(*std::begin(std::declval<C &>()));

} // namespace detail

/// The keys of a batch from a container of strings, or of anything that Bytes can be made of.
/// The strings must outlive the result.
template <class C, std::enable_if_t<!detail::owning_temporary<C> || !detail::owns<detail::Element<C>>, int> = 0>
std::vector<bloomline_bytes> keys(C &&strings) {
    static_assert(std::is_lvalue_reference_v<detail::Element<C>> || !detail::owns<detail::Element<C>>,
                  "each string is made as the loop comes to it, and is gone afterwards");
    std::vector<bloomline_bytes> keys;
    keys.reserve(std::size(strings));
    for (const auto &string : strings) keys.push_back(Bytes(string));
    return keys;
}
template <class C, std::enable_if_t<detail::owning_temporary<C> && detail::owns<detail::Element<C>>, int> = 0>
std::vector<bloomline_bytes> keys(C &&strings) BLOOMLINE_DELETED("the strings are a temporary: name them first");

inline std::uint64_t hash(Bytes key, std::uint64_t seed = 0) noexcept {
    return bloomline_hash(key.data(), key.size(), seed);
}
inline std::uint64_t hash_u64(std::uint64_t key, std::uint64_t seed = 0) noexcept {
    return bloomline_hash_u64(key, seed);
}
inline std::vector<std::uint64_t> hash_batch(Span<const bloomline_bytes> keys,
                                             std::uint64_t seed = 0) {
    std::vector<std::uint64_t> hashes(keys.size());
    bloomline_hash_batch(keys.data(), keys.size(), seed, hashes.data());
    return hashes;
}
inline std::vector<std::uint64_t> hash_u64_batch(Span<const std::uint64_t> keys,
                                                 std::uint64_t seed = 0) {
    std::vector<std::uint64_t> hashes(keys.size());
    bloomline_hash_u64_batch(keys.data(), keys.size(), seed, hashes.data());
    return hashes;
}

/// The answers to a batch: bit i tells whether key i may be present. It can be used again
/// for the next batch, and then need not allocate.
class Bitmap {
public:
    bool operator[](std::size_t i) const noexcept { return words_[i / 64] >> (i % 64) & 1; }
    std::size_t size() const noexcept { return size_; }
    std::size_t count() const noexcept { return count_; }
    const std::vector<std::uint64_t> &words() const noexcept { return words_; }

    /// Calls f(i) for every bit i that is set, in order.
    template <class F>
    void for_each(F &&f) const {
        for (std::size_t word = 0; word < words_.size(); word++) {
            std::size_t i = 64 * word;
            for (std::uint64_t bits = words_[word]; bits != 0; bits >>= 1, i++) {
                if (bits & 1) f(i);
            }
        }
    }

    /// Makes room for 'size' answers, which 'probe' writes and counts.
    template <class Probe>
    std::size_t fill(std::size_t size, Probe &&probe) {
        words_.resize(size / 64 + (size % 64 != 0));
        size_ = size;
        return count_ = probe(words_.data());
    }

private:
    std::vector<std::uint64_t> words_;
    std::size_t size_ = 0;
    std::size_t count_ = 0;
};

using Params = bloomline_params;

inline Result<Params> params_for_rate(std::uint64_t keys, double rate, std::uint64_t seed = 0) {
    Params params{};
    Status status = bloomline_params_for_rate(keys, rate, &params);
    params.seed = seed;
    return status ? Result<Params>(params) : status;
}
inline Result<Params> params_for_bits(std::uint64_t keys, double bits_per_key,
                                      std::uint64_t seed = 0) {
    Params params{};
    Status status = bloomline_params_for_bits(keys, bits_per_key, &params);
    params.seed = seed;
    return status ? Result<Params>(params) : status;
}
inline double expected_rate(const Params &params, std::uint64_t keys) noexcept {
    return bloomline_params_rate(&params, keys);
}

/// A seed from the operating system, for a filter whose keys others choose: what it stops and
/// what not, bloomline_random_seed() says.
inline Result<std::uint64_t> random_seed() noexcept {
    std::uint64_t seed = 0;
    Status status = bloomline_random_seed(&seed);
    return status ? Result<std::uint64_t>(seed) : status;
}
/// The same with such a seed.
inline Result<Params> with_random_seed(Result<Params> params) noexcept {
    if (!params) return params;
    Status status = bloomline_random_seed(&params->seed);
    return status ? params : status;
}
/// The line count rounded up so that fold() can halve the filter 'folds' times.
inline Result<Params> foldable(Result<Params> params, std::uint32_t folds) noexcept {
    if (!params) return params;
    Status status = bloomline_params_foldable(&*params, folds);
    return status ? params : status;
}

/// The same for Filter::classic().
inline Result<Params> classic_params_for_rate(std::uint64_t keys, double rate,
                                              std::uint64_t seed = 0) {
    Params params{};
    Status status = bloomline_classic_params_for_rate(keys, rate, &params);
    params.seed = seed;
    return status ? Result<Params>(params) : status;
}
inline Result<Params> classic_params_for_bits(std::uint64_t keys, double bits_per_key,
                                              std::uint64_t seed = 0) {
    Params params{};
    Status status = bloomline_classic_params_for_bits(keys, bits_per_key, &params);
    params.seed = seed;
    return status ? Result<Params>(params) : status;
}
inline double classic_expected_rate(const Params &params, std::uint64_t keys) noexcept {
    return bloomline_classic_params_rate(&params, keys);
}

/// A filter in caller-owned bytes, which must stay unchanged where they are while it is used. Owns
/// nothing; copy it freely.
class View {
public:
    View() noexcept : view_{} {}
    explicit View(const bloomline_view &view) noexcept : view_(view) {}

    static Result<View> open(Bytes data) noexcept {
        View view;
        Status status = bloomline_view_open(data.data(), data.size(), &view.view_);
        return status ? Result<View>(view) : status;
    }
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    static Result<View> open_unverified(Bytes data) noexcept {
        View view;
        Status status = bloomline_view_open_unverified(data.data(), data.size(), &view.view_);
        return status ? Result<View>(view) : status;
    }
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open_unverified(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");

    bool contains(Bytes key) const noexcept {
        return bloomline_view_contains(&view_, key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_view_contains_hash(&view_, hash);
    }
    /// Returns how many keys may be present.
    std::size_t contains_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_view_contains_hashes(&view_, hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_view_contains_keys(&view_, keys.data(), keys.size(), bitmap);
        });
    }

    /// The hash that this filter uses.
    std::uint64_t hash(Bytes key) const noexcept {
        return bloomline_view_hash(&view_, key.data(), key.size());
    }
    std::uint64_t hash_u64(std::uint64_t key) const noexcept { return hash(IntegerKey(key)); }

    Result<Params> params() const noexcept {
        Params params{};
        Status status = bloomline_view_params(&view_, &params);
        return status ? Result<Params>(params) : status;
    }
    std::uint64_t key_count() const noexcept { return bloomline_view_key_count(&view_); }
    double estimated_rate() const noexcept { return bloomline_view_estimated_rate(&view_); }
    /// Of the fullest line: near 1 if somebody chose keys that all fall on it.
    double worst_line_rate() const noexcept { return bloomline_view_worst_line_rate(&view_); }
    const bloomline_view &get() const noexcept { return view_; }

private:
    bloomline_view view_;
};

static_assert(sizeof(View) == sizeof(bloomline_view) && std::is_standard_layout_v<View>,
              "an array of View is an array of bloomline_view");

/// Probes many filters for one key; the lines of all are prefetched before the first is probed.
/// Returns how many may have it; bit i of 'out' is for view i. If the filters hash keys
/// differently, with other seeds or as other engines do, all may have it: see views_contain().
inline std::size_t views_contain_hash(Span<const View> views, std::uint64_t hash, Bitmap &out) {
    auto first = reinterpret_cast<const bloomline_view *>(views.data());
    return out.fill(views.size(), [&](std::uint64_t *bitmap) {
        return bloomline_views_contain_hash(first, views.size(), hash, bitmap);
    });
}

/// views_contain_hash() for a key, which the filters may hash differently.
inline std::size_t views_contain(Span<const View> views, Bytes key, Bitmap &out) {
    auto first = reinterpret_cast<const bloomline_view *>(views.data());
    return out.fill(views.size(), [&](std::uint64_t *bitmap) {
        return bloomline_views_contain(first, views.size(), key.data(), key.size(), bitmap);
    });
}

/// Probes for each hash the filter of its shard, all in one call: views[i] is shard i. The shard
/// of a hash is shard_of(hash, views.size()). Returns how many keys may be present: all, if the
/// filters hash keys differently.
inline std::uint64_t shard_of(std::uint64_t hash, std::uint64_t shards) noexcept {
    return bloomline_shard_of(hash, shards);
}
inline std::size_t shards_contain_hashes(Span<const View> views, Span<const std::uint64_t> hashes,
                                         Bitmap &out) {
    auto first = reinterpret_cast<const bloomline_view *>(views.data());
    return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
        return bloomline_shards_contain_hashes(first, views.size(), hashes.data(), hashes.size(),
                                               bitmap);
    });
}

namespace detail {

struct Free {
    void operator()(bloomline_filter *filter) const noexcept { bloomline_filter_free(filter); }
    void operator()(bloomline_concurrent *filter) const noexcept {
        bloomline_concurrent_free(filter);
    }
    void operator()(bloomline_swap *swap) const noexcept { bloomline_swap_free(swap); }
    void operator()(bloomline_counting *filter) const noexcept { bloomline_counting_free(filter); }
    void operator()(bloomline_cuckoo *filter) const noexcept { bloomline_cuckoo_free(filter); }
    void operator()(bloomline_scalable *filter) const noexcept { bloomline_scalable_free(filter); }
    void operator()(bloomline_window *window) const noexcept { bloomline_window_free(window); }
    void operator()(bloomline_builder *builder) const noexcept { bloomline_builder_free(builder); }
    void operator()(bloomline_map *map) const noexcept { bloomline_map_close(map); }
};

/// A handle of the C interface that frees itself; can be moved, not copied.
template <class Raw>
class Handle {
public:
    explicit operator bool() const noexcept { return bool(raw_); }
    /// The handle, for a function of the C interface.
    Raw *get() const & noexcept { return raw_.get(); }
    Raw *get() const && BLOOMLINE_DELETED("the owner is a temporary: name it, or release()");
    /// Gives the handle up to a caller who frees it.
    Raw *release() noexcept { return raw_.release(); }

protected:
    Handle() noexcept = default;
    explicit Handle(Raw *raw) noexcept : raw_(raw) {}

private:
    std::unique_ptr<Raw, Free> raw_;
};

} // namespace detail

/// A filter in memory, grown key by key.
class Filter : public detail::Handle<bloomline_filter> {
public:
    Filter() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit Filter(bloomline_filter *raw) noexcept : Handle(raw) {}

    static Result<Filter> create(const Result<Params> &params) noexcept {
        if (!params) return params.status();
        bloomline_filter *raw = nullptr;
        Status status = bloomline_filter_new(&*params, &raw);
        return status ? Result<Filter>(Filter(raw)) : status;
    }
    /// One with the bits of a key anywhere: see bloomline_classic_new().
    static Result<Filter> classic(const Result<Params> &params) noexcept {
        if (!params) return params.status();
        bloomline_filter *raw = nullptr;
        Status status = bloomline_classic_new(&*params, &raw);
        return status ? Result<Filter>(Filter(raw)) : status;
    }
    static Result<Filter> decode(Bytes data) noexcept {
        bloomline_filter *raw = nullptr;
        Status status = bloomline_filter_decode(data.data(), data.size(), &raw);
        return status ? Result<Filter>(Filter(raw)) : status;
    }
    static Result<Filter> load(const std::string &path) noexcept {
        bloomline_filter *raw = nullptr;
        Status status = bloomline_filter_load(path.c_str(), &raw);
        return status ? Result<Filter>(Filter(raw)) : status;
    }

    void insert(Bytes key) noexcept { bloomline_filter_insert(get(), key.data(), key.size()); }
    void insert_u64(std::uint64_t key) noexcept { insert(IntegerKey(key)); }
    void insert_hash(std::uint64_t hash) noexcept { bloomline_filter_insert_hash(get(), hash); }
    void insert_hashes(Span<const std::uint64_t> hashes) noexcept {
        bloomline_filter_insert_hashes(get(), hashes.data(), hashes.size());
    }
    void insert_keys(Span<const bloomline_bytes> keys) noexcept {
        bloomline_filter_insert_keys(get(), keys.data(), keys.size());
    }

    bool contains(Bytes key) const noexcept {
        return bloomline_filter_contains(get(), key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_filter_contains_hash(get(), hash);
    }
    /// Returns how many keys may be present.
    std::size_t contains_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_filter_contains_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_filter_contains_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    /// Adds all keys of another filter of the same size, k and seed.
    Status merge(const Filter &from) noexcept { return bloomline_filter_union(get(), from.get()); }
    void clear() noexcept { bloomline_filter_clear(get()); }
    Status fold() noexcept { return bloomline_filter_fold(get()); }
    /// Returns how many times the filter was folded.
    Result<std::uint32_t> fold_to_rate(double rate) noexcept {
        std::uint32_t folds = 0;
        Status status = bloomline_filter_fold_to_rate(get(), rate, &folds);
        return status ? Result<std::uint32_t>(folds) : status;
    }

    Result<Params> params() const noexcept {
        Params params{};
        Status status = bloomline_filter_params(get(), &params);
        return status ? Result<Params>(params) : status;
    }
    std::uint64_t key_count() const noexcept { return bloomline_filter_key_count(get()); }
    double fill() const noexcept { return bloomline_filter_fill(get()); }
    double estimated_keys() const noexcept { return bloomline_filter_estimated_keys(get()); }
    double estimated_rate() const noexcept { return bloomline_filter_estimated_rate(get()); }
    /// Of the fullest line: near 1 if somebody chose keys that all fall on it.
    double worst_line_rate() const noexcept { return view().worst_line_rate(); }

    std::size_t encoded_len() const noexcept { return bloomline_filter_encoded_len(get()); }
    Status encode(void *out, std::size_t cap, std::size_t *written = nullptr) const noexcept {
        return bloomline_filter_encode(get(), out, cap, written);
    }
    Result<std::vector<std::uint8_t>> encode() const {
        std::vector<std::uint8_t> bytes(encoded_len());
        Status status = encode(bytes.data(), bytes.size());
        return status ? Result<std::vector<std::uint8_t>>(std::move(bytes)) : status;
    }
    Status save(const std::string &path) const noexcept {
        return bloomline_filter_save(get(), path.c_str());
    }

    /// To be used until the filter is next changed or freed.
    View view() const & noexcept {
        bloomline_view view{};
        return bloomline_filter_view(get(), &view) == BLOOMLINE_OK ? View(view) : View();
    }
    View view() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
};

using CuckooParams = bloomline_cuckoo_params;

inline Result<CuckooParams> cuckoo_params_for_rate(std::uint64_t keys, double rate,
                                                   std::uint64_t seed = 0) {
    CuckooParams params{};
    Status status = bloomline_cuckoo_params_for_rate(keys, rate, &params);
    params.seed = seed;
    return status ? Result<CuckooParams>(params) : status;
}
inline double expected_rate(const CuckooParams &params, std::uint64_t keys) noexcept {
    return bloomline_cuckoo_params_rate(&params, keys);
}
inline Result<CuckooParams> with_random_seed(Result<CuckooParams> params) noexcept {
    if (!params) return params;
    Status status = bloomline_random_seed(&params->seed);
    return status ? params : status;
}

/// A filter from which keys can be removed, and that can become full: see bloomline_cuckoo.
class CuckooFilter : public detail::Handle<bloomline_cuckoo> {
public:
    CuckooFilter() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit CuckooFilter(bloomline_cuckoo *raw) noexcept : Handle(raw) {}

    static Result<CuckooFilter> create(const Result<CuckooParams> &params) noexcept {
        if (!params) return params.status();
        bloomline_cuckoo *raw = nullptr;
        Status status = bloomline_cuckoo_new(&*params, &raw);
        return status ? Result<CuckooFilter>(CuckooFilter(raw)) : status;
    }
    static Result<CuckooFilter> decode(Bytes data) noexcept {
        bloomline_cuckoo *raw = nullptr;
        Status status = bloomline_cuckoo_decode(data.data(), data.size(), &raw);
        return status ? Result<CuckooFilter>(CuckooFilter(raw)) : status;
    }
    static Result<CuckooFilter> load(const std::string &path) noexcept {
        bloomline_cuckoo *raw = nullptr;
        Status status = bloomline_cuckoo_load(path.c_str(), &raw);
        return status ? Result<CuckooFilter>(CuckooFilter(raw)) : status;
    }

    Status insert(Bytes key) noexcept {
        return bloomline_cuckoo_insert(get(), key.data(), key.size());
    }
    Status insert_u64(std::uint64_t key) noexcept { return insert(IntegerKey(key)); }
    Status insert_hash(std::uint64_t hash) noexcept {
        return bloomline_cuckoo_insert_hash(get(), hash);
    }
    /// Adds keys in order up to the first for which there is no room; 'inserted' is how many.
    Status insert_hashes(Span<const std::uint64_t> hashes, std::size_t *inserted = nullptr) noexcept {
        return bloomline_cuckoo_insert_hashes(get(), hashes.data(), hashes.size(), inserted);
    }
    Status insert_keys(Span<const bloomline_bytes> keys, std::size_t *inserted = nullptr) noexcept {
        return bloomline_cuckoo_insert_keys(get(), keys.data(), keys.size(), inserted);
    }
    /// Only of keys that are in.
    Status remove(Bytes key) noexcept {
        return bloomline_cuckoo_remove(get(), key.data(), key.size());
    }
    Status remove_u64(std::uint64_t key) noexcept { return remove(IntegerKey(key)); }
    Status remove_hash(std::uint64_t hash) noexcept {
        return bloomline_cuckoo_remove_hash(get(), hash);
    }
    void clear() noexcept { bloomline_cuckoo_clear(get()); }

    bool contains(Bytes key) const noexcept {
        return bloomline_cuckoo_contains(get(), key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_cuckoo_contains_hash(get(), hash);
    }
    /// Returns how many keys may be present.
    std::size_t contains_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_cuckoo_contains_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_cuckoo_contains_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    Result<CuckooParams> params() const noexcept {
        CuckooParams params{};
        Status status = bloomline_cuckoo_get_params(get(), &params);
        return status ? Result<CuckooParams>(params) : status;
    }
    std::uint64_t key_count() const noexcept { return bloomline_cuckoo_key_count(get()); }
    std::uint64_t capacity() const noexcept { return bloomline_cuckoo_capacity(get()); }
    double fill() const noexcept { return bloomline_cuckoo_fill(get()); }

    std::size_t encoded_len() const noexcept { return bloomline_cuckoo_encoded_len(get()); }
    Status encode(void *out, std::size_t cap, std::size_t *written = nullptr) const noexcept {
        return bloomline_cuckoo_encode(get(), out, cap, written);
    }
    Result<std::vector<std::uint8_t>> encode() const {
        std::vector<std::uint8_t> bytes(encoded_len());
        Status status = encode(bytes.data(), bytes.size());
        return status ? Result<std::vector<std::uint8_t>>(std::move(bytes)) : status;
    }
    Status save(const std::string &path) const noexcept {
        return bloomline_cuckoo_save(get(), path.c_str());
    }

    /// To be used until the filter is next changed or freed.
    View view() const & noexcept {
        bloomline_view view{};
        return bloomline_cuckoo_view(get(), &view) == BLOOMLINE_OK ? View(view) : View();
    }
    View view() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
};

/// A filter that any number of threads insert into and probe at once, through a const
/// reference; none waits for another.
class ConcurrentFilter : public detail::Handle<bloomline_concurrent> {
public:
    ConcurrentFilter() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit ConcurrentFilter(bloomline_concurrent *raw) noexcept : Handle(raw) {}

    static Result<ConcurrentFilter> create(const Result<Params> &params) noexcept {
        if (!params) return params.status();
        bloomline_concurrent *raw = nullptr;
        Status status = bloomline_concurrent_new(&*params, &raw);
        return status ? Result<ConcurrentFilter>(ConcurrentFilter(raw)) : status;
    }
    /// The same keys in the same memory: 'filter' is empty afterwards.
    static Result<ConcurrentFilter> from(Filter &&filter) noexcept {
        bloomline_concurrent *raw = nullptr;
        bloomline_filter *given = filter.release();
        Status status = bloomline_concurrent_from_filter(&given, &raw);
        filter = Filter(given);
        return status ? Result<ConcurrentFilter>(ConcurrentFilter(raw)) : status;
    }

    /// Returns whether the key was new.
    bool insert(Bytes key) const noexcept {
        return bloomline_concurrent_insert(get(), key.data(), key.size());
    }
    bool insert_u64(std::uint64_t key) const noexcept { return insert(IntegerKey(key)); }
    bool insert_hash(std::uint64_t hash) const noexcept {
        return bloomline_concurrent_insert_hash(get(), hash);
    }
    /// Returns how many keys were new, and which.
    std::size_t insert_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_concurrent_insert_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t insert_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_concurrent_insert_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    bool contains(Bytes key) const noexcept {
        return bloomline_concurrent_contains(get(), key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_concurrent_contains_hash(get(), hash);
    }
    /// Returns how many keys may be present.
    std::size_t contains_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_concurrent_contains_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_concurrent_contains_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    /// Adds all keys of a filter of the same size, k and seed.
    Status merge(const Filter &from) const noexcept {
        return bloomline_concurrent_union(get(), from.get());
    }
    /// A filter of its own with all keys that are in: to be saved, encoded or measured.
    Result<Filter> snapshot() const noexcept {
        bloomline_filter *raw = nullptr;
        Status status = bloomline_concurrent_snapshot(get(), &raw);
        return status ? Result<Filter>(Filter(raw)) : status;
    }
    Result<Params> params() const noexcept {
        Params params{};
        Status status = bloomline_concurrent_params(get(), &params);
        return status ? Result<Params>(params) : status;
    }
    double estimated_keys() const noexcept { return bloomline_concurrent_estimated_keys(get()); }
};

/// A filter of a Swap as it was at some moment: stays as it is until this goes. Can be moved to
/// other threads.
class Snapshot {
public:
    Snapshot() noexcept = default;
    /// Takes over what bloomline_swap_acquire() gave.
    explicit Snapshot(const bloomline_filter *raw) noexcept : raw_(raw) {}

    /// To be probed for as long as the Snapshot is there.
    View view() const & noexcept {
        bloomline_view view{};
        return bloomline_filter_view(get(), &view) == BLOOMLINE_OK ? View(view) : View();
    }
    View view() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
    /// For functions of the C interface that take a const bloomline_filter.
    const bloomline_filter *get() const & noexcept { return raw_.get(); }
    const bloomline_filter *get() const && BLOOMLINE_DELETED("the Snapshot is a temporary: name it");

private:
    struct Release {
        void operator()(const bloomline_filter *raw) const noexcept { bloomline_swap_release(raw); }
    };
    std::unique_ptr<const bloomline_filter, Release> raw_;
};

/// A filter that is replaced while threads read it: see bloomline_swap.
class Swap : public detail::Handle<bloomline_swap> {
public:
    Swap() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit Swap(bloomline_swap *raw) noexcept : Handle(raw) {}

    /// 'first' is empty afterwards; if this fails, it is as before.
    static Result<Swap> create(Filter &&first) noexcept {
        bloomline_swap *raw = nullptr;
        bloomline_filter *given = first.release();
        Status status = bloomline_swap_new(&given, &raw);
        first = Filter(given);
        return status ? Result<Swap>(Swap(raw)) : status;
    }
    /// Puts another filter in the place of the one that is there. 'next' is empty afterwards; if
    /// this fails, it is as before.
    Status publish(Filter &&next) const noexcept {
        bloomline_filter *given = next.release();
        Status status = bloomline_swap_publish(get(), &given);
        next = Filter(given);
        return status;
    }
    /// The filter that is there now, for several questions.
    Snapshot snapshot() const noexcept { return Snapshot(bloomline_swap_acquire(get())); }

    bool contains(Bytes key) const noexcept {
        return bloomline_swap_contains(get(), key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_swap_contains_hash(get(), hash);
    }
    /// Returns how many keys may be present, in one filter.
    std::size_t contains_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_swap_contains_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_swap_contains_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }
};

/// A filter that keys can be removed from. It takes five times the memory of a Filter. Remove
/// only what was inserted: bloomline_counting in bloomline.h says what happens otherwise.
class CountingFilter : public detail::Handle<bloomline_counting> {
public:
    CountingFilter() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit CountingFilter(bloomline_counting *raw) noexcept : Handle(raw) {}

    static Result<CountingFilter> create(const Result<Params> &params) noexcept {
        if (!params) return params.status();
        bloomline_counting *raw = nullptr;
        Status status = bloomline_counting_new(&*params, &raw);
        return status ? Result<CountingFilter>(CountingFilter(raw)) : status;
    }
    static Result<CountingFilter> decode(Bytes data) noexcept {
        bloomline_counting *raw = nullptr;
        Status status = bloomline_counting_decode(data.data(), data.size(), &raw);
        return status ? Result<CountingFilter>(CountingFilter(raw)) : status;
    }
    static Result<CountingFilter> load(const std::string &path) noexcept {
        bloomline_counting *raw = nullptr;
        Status status = bloomline_counting_load(path.c_str(), &raw);
        return status ? Result<CountingFilter>(CountingFilter(raw)) : status;
    }

    void insert(Bytes key) noexcept { bloomline_counting_insert(get(), key.data(), key.size()); }
    void insert_u64(std::uint64_t key) noexcept { insert(IntegerKey(key)); }
    void insert_hash(std::uint64_t hash) noexcept { bloomline_counting_insert_hash(get(), hash); }
    void insert_hashes(Span<const std::uint64_t> hashes) noexcept {
        bloomline_counting_insert_hashes(get(), hashes.data(), hashes.size());
    }
    void insert_keys(Span<const bloomline_bytes> keys) noexcept {
        bloomline_counting_insert_keys(get(), keys.data(), keys.size());
    }

    /// BLOOMLINE_ERR_ABSENT if the key is surely not in.
    Status remove(Bytes key) noexcept {
        return bloomline_counting_remove(get(), key.data(), key.size());
    }
    Status remove_u64(std::uint64_t key) noexcept { return remove(IntegerKey(key)); }
    Status remove_hash(std::uint64_t hash) noexcept {
        return bloomline_counting_remove_hash(get(), hash);
    }
    /// Returns how many keys were refused, being surely not in; their bits of 'refused' are set.
    std::size_t remove_hashes(Span<const std::uint64_t> hashes, Bitmap &refused) {
        return refused.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_counting_remove_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t remove_keys(Span<const bloomline_bytes> keys, Bitmap &refused) {
        return refused.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_counting_remove_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    /// How often the key is in, at most; BLOOMLINE_COUNTING_MOST means so often or more.
    std::uint32_t count(Bytes key) const noexcept {
        return bloomline_counting_count(get(), key.data(), key.size());
    }
    std::uint32_t count_u64(std::uint64_t key) const noexcept { return count(IntegerKey(key)); }
    std::uint32_t count_hash(std::uint64_t hash) const noexcept {
        return bloomline_counting_count_hash(get(), hash);
    }

    bool contains(Bytes key) const noexcept {
        return bloomline_counting_contains(get(), key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_counting_contains_hash(get(), hash);
    }
    /// To probe in batches; to be used until the filter is next changed or freed.
    View view() const & noexcept {
        bloomline_view view{};
        return bloomline_counting_view(get(), &view) == BLOOMLINE_OK ? View(view) : View();
    }
    View view() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
    /// The plain filter of the keys that are in, a copy.
    Result<Filter> to_filter() const noexcept {
        bloomline_filter *raw = nullptr;
        Status status = bloomline_counting_to_filter(get(), &raw);
        return status ? Result<Filter>(Filter(raw)) : status;
    }

    /// Adds all keys of another filter of the same size, k and seed, each as often as it is in.
    Status merge(const CountingFilter &from) noexcept {
        return bloomline_counting_union(get(), from.get());
    }
    void clear() noexcept { bloomline_counting_clear(get()); }

    Result<Params> params() const noexcept {
        Params params{};
        Status status = bloomline_counting_params(get(), &params);
        return status ? Result<Params>(params) : status;
    }
    std::uint64_t key_count() const noexcept { return bloomline_counting_key_count(get()); }
    double fill() const noexcept { return bloomline_filter_fill(bloomline_counting_filter(get())); }
    double estimated_keys() const noexcept {
        return bloomline_filter_estimated_keys(bloomline_counting_filter(get()));
    }
    double estimated_rate() const noexcept {
        return bloomline_filter_estimated_rate(bloomline_counting_filter(get()));
    }

    std::size_t encoded_len() const noexcept { return bloomline_counting_encoded_len(get()); }
    Status encode(void *out, std::size_t cap, std::size_t *written = nullptr) const noexcept {
        return bloomline_counting_encode(get(), out, cap, written);
    }
    Result<std::vector<std::uint8_t>> encode() const {
        std::vector<std::uint8_t> bytes(encoded_len());
        Status status = encode(bytes.data(), bytes.size());
        return status ? Result<std::vector<std::uint8_t>>(std::move(bytes)) : status;
    }
    Status save(const std::string &path) const noexcept {
        return bloomline_counting_save(get(), path.c_str());
    }
};

/// A filter that grows with its keys, for a number of them that nobody knows beforehand.
///
/// Inserts answer BLOOMLINE_ERR_OUT_OF_MEMORY where it ought to grow and cannot: the keys are in
/// all the same, but the rate may exceed the one asked for.
class ScalableFilter : public detail::Handle<bloomline_scalable> {
public:
    ScalableFilter() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit ScalableFilter(bloomline_scalable *raw) noexcept : Handle(raw) {}

    /// Its first stage is for 'first_keys' keys; all stages together stay below 'rate'.
    static Result<ScalableFilter> create(std::uint64_t first_keys, double rate,
                                         std::uint64_t seed = 0) noexcept {
        bloomline_scalable *raw = nullptr;
        Status status = bloomline_scalable_new(first_keys, rate, seed, &raw);
        return status ? Result<ScalableFilter>(ScalableFilter(raw)) : status;
    }
    static Result<ScalableFilter> decode(Bytes data) noexcept {
        bloomline_scalable *raw = nullptr;
        Status status = bloomline_scalable_decode(data.data(), data.size(), &raw);
        return status ? Result<ScalableFilter>(ScalableFilter(raw)) : status;
    }
    static Result<ScalableFilter> load(const std::string &path) noexcept {
        bloomline_scalable *raw = nullptr;
        Status status = bloomline_scalable_load(path.c_str(), &raw);
        return status ? Result<ScalableFilter>(ScalableFilter(raw)) : status;
    }

    /// Whether the key was new is written to 'is_new', unless that is null.
    Status insert(Bytes key, bool *is_new = nullptr) noexcept {
        return bloomline_scalable_insert(get(), key.data(), key.size(), is_new);
    }
    Status insert_u64(std::uint64_t key, bool *is_new = nullptr) noexcept {
        return insert(IntegerKey(key), is_new);
    }
    Status insert_hash(std::uint64_t hash, bool *is_new = nullptr) noexcept {
        return bloomline_scalable_insert_hash(get(), hash, is_new);
    }
    Status insert_hashes(Span<const std::uint64_t> hashes) noexcept {
        return bloomline_scalable_insert_hashes(get(), hashes.data(), hashes.size(), nullptr);
    }
    Status insert_keys(Span<const bloomline_bytes> keys) noexcept {
        return bloomline_scalable_insert_keys(get(), keys.data(), keys.size(), nullptr);
    }
    /// The bits of the keys that were new are set in 'is_new'.
    Status insert_hashes(Span<const std::uint64_t> hashes, Bitmap &is_new) {
        Status status;
        is_new.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            std::uint64_t before = key_count();
            status = bloomline_scalable_insert_hashes(get(), hashes.data(), hashes.size(), bitmap);
            return std::size_t(key_count() - before);
        });
        return status;
    }
    Status insert_keys(Span<const bloomline_bytes> keys, Bitmap &is_new) {
        Status status;
        is_new.fill(keys.size(), [&](std::uint64_t *bitmap) {
            std::uint64_t before = key_count();
            status = bloomline_scalable_insert_keys(get(), keys.data(), keys.size(), bitmap);
            return std::size_t(key_count() - before);
        });
        return status;
    }

    bool contains(Bytes key) const noexcept {
        return bloomline_scalable_contains(get(), key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_scalable_contains_hash(get(), hash);
    }
    std::size_t contains_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_scalable_contains_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_scalable_contains_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    std::size_t stage_count() const noexcept { return bloomline_scalable_stage_count(get()); }
    std::uint64_t key_count() const noexcept { return bloomline_scalable_key_count(get()); }
    /// The false-positive rate to expect now, of all stages together.
    double rate() const noexcept { return bloomline_scalable_rate(get()); }
    /// The shape of the plain filter for the keys that are in.
    Result<Params> plain_params() const noexcept {
        Params params{};
        Status status = bloomline_scalable_plain_params(get(), &params);
        return status ? Result<Params>(params) : status;
    }

    std::size_t encoded_len() const noexcept { return bloomline_scalable_encoded_len(get()); }
    Status encode(void *out, std::size_t cap, std::size_t *written = nullptr) const noexcept {
        return bloomline_scalable_encode(get(), out, cap, written);
    }
    Result<std::vector<std::uint8_t>> encode() const {
        std::vector<std::uint8_t> bytes(encoded_len());
        Status status = encode(bytes.data(), bytes.size());
        return status ? Result<std::vector<std::uint8_t>>(std::move(bytes)) : status;
    }
    Status save(const std::string &path) const noexcept {
        return bloomline_scalable_save(get(), path.c_str());
    }
};

/// A filter that forgets: whether a key was inserted in one of the last so many generations. See
/// bloomline_window.
class Window : public detail::Handle<bloomline_window> {
public:
    Window() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit Window(bloomline_window *raw) noexcept : Handle(raw) {}

    static Result<Window> create(std::uint32_t generations, std::uint64_t keys_per_generation,
                                 double rate, std::uint64_t seed = 0) noexcept {
        bloomline_window *raw = nullptr;
        Status status =
            bloomline_window_new(generations, keys_per_generation, rate, seed, &raw);
        return status ? Result<Window>(Window(raw)) : status;
    }
    static Result<Window> decode(Bytes data) noexcept {
        bloomline_window *raw = nullptr;
        Status status = bloomline_window_decode(data.data(), data.size(), &raw);
        return status ? Result<Window>(Window(raw)) : status;
    }
    static Result<Window> load(const std::string &path) noexcept {
        bloomline_window *raw = nullptr;
        Status status = bloomline_window_load(path.c_str(), &raw);
        return status ? Result<Window>(Window(raw)) : status;
    }

    void rotate() noexcept { bloomline_window_rotate(get()); }
    /// Such as the seconds since 1970 divided by 86400.
    void advance_to(std::uint64_t slice) noexcept { bloomline_window_advance_to(get(), slice); }
    /// So many keys are a generation; 0: it ends only when it is told to.
    void rotate_after(std::uint64_t keys) noexcept { bloomline_window_rotate_after(get(), keys); }

    /// Returns whether the key was new.
    bool insert(Bytes key) noexcept {
        return bloomline_window_insert(get(), key.data(), key.size());
    }
    bool insert_u64(std::uint64_t key) noexcept { return insert(IntegerKey(key)); }
    bool insert_hash(std::uint64_t hash) noexcept {
        return bloomline_window_insert_hash(get(), hash);
    }
    /// Returns how many keys were new; their bits of 'out' are set.
    std::size_t insert_hashes(Span<const std::uint64_t> hashes, Bitmap &out) {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_window_insert_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t insert_keys(Span<const bloomline_bytes> keys, Bitmap &out) {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_window_insert_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    bool contains(Bytes key) const noexcept {
        return bloomline_window_contains(get(), key.data(), key.size());
    }
    bool contains_u64(std::uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    bool contains_hash(std::uint64_t hash) const noexcept {
        return bloomline_window_contains_hash(get(), hash);
    }
    /// Returns how many keys may be present.
    std::size_t contains_hashes(Span<const std::uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), [&](std::uint64_t *bitmap) {
            return bloomline_window_contains_hashes(get(), hashes.data(), hashes.size(), bitmap);
        });
    }
    std::size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), [&](std::uint64_t *bitmap) {
            return bloomline_window_contains_keys(get(), keys.data(), keys.size(), bitmap);
        });
    }

    std::uint32_t generations() const noexcept { return bloomline_window_generations(get()); }
    std::uint64_t slice() const noexcept { return bloomline_window_slice(get()); }
    /// Of each generation.
    Result<Params> params() const noexcept {
        Params params{};
        Status status = bloomline_window_params(get(), &params);
        return status ? Result<Params>(params) : status;
    }
    /// Of the generation of 'age' rotations ago.
    std::uint64_t key_count(std::uint32_t age = 0) const noexcept {
        return bloomline_window_key_count(get(), age);
    }
    double estimated_rate() const noexcept { return bloomline_window_estimated_rate(get()); }

    std::size_t encoded_len() const noexcept { return bloomline_window_encoded_len(get()); }
    Status save(const std::string &path) const noexcept {
        return bloomline_window_save(get(), path.c_str());
    }
    Status encode(void *out, std::size_t cap, std::size_t *written = nullptr) const noexcept {
        return bloomline_window_encode(get(), out, cap, written);
    }
    Result<std::vector<std::uint8_t>> encode() const {
        std::vector<std::uint8_t> bytes(encoded_len());
        Status status = encode(bytes.data(), bytes.size());
        return status ? Result<std::vector<std::uint8_t>>(std::move(bytes)) : status;
    }
};

/// A file with a filter in it, mapped into memory. While it is mapped nobody may change the file in
/// place, in this process or another: if it is written to, answers are wrong in either direction,
/// and if it is cut short, a probe kills the process (SIGBUS). Replace it by rename, as save()
/// does: the map keeps the old file. Where that cannot be promised, load the filter instead.
class Map : public detail::Handle<bloomline_map> {
public:
    Map() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit Map(bloomline_map *raw) noexcept : Handle(raw) {}

    static Result<Map> open(const std::string &path) noexcept {
        bloomline_map *raw = nullptr;
        Status status = bloomline_map_open(path.c_str(), &raw);
        return status ? Result<Map>(Map(raw)) : status;
    }
    static Result<Map> open_unverified(const std::string &path) noexcept {
        bloomline_map *raw = nullptr;
        Status status = bloomline_map_open_unverified(path.c_str(), &raw);
        return status ? Result<Map>(Map(raw)) : status;
    }

    /// To be used for as long as the file is mapped.
    View view() const & noexcept {
        bloomline_view view{};
        return bloomline_map_view(get(), &view) == BLOOMLINE_OK ? View(view) : View();
    }
    View view() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
};

/// Makes a filter of all hashes in the caller's buffer of at least block_len() bytes.
inline std::size_t block_len(const Params &params) noexcept {
    return bloomline_block_len(&params);
}
inline Status block_build(const Params &params, Span<const std::uint64_t> hashes, void *out,
                          std::size_t cap) noexcept {
    return bloomline_block_build(&params, hashes.data(), hashes.size(), out, cap);
}
inline Result<std::vector<std::uint8_t>> block_build(const Params &params,
                                                     Span<const std::uint64_t> hashes) {
    std::vector<std::uint8_t> block(block_len(params));
    Status status = block_build(params, hashes, block.data(), block.size());
    return status ? Result<std::vector<std::uint8_t>>(std::move(block)) : status;
}

/// Inserts into lines that are the caller's own memory, 64 bytes each; zeros are empty ones.
inline Status lines_insert_hashes(const Params &params, void *lines, std::size_t len,
                                  Span<const std::uint64_t> hashes) noexcept {
    return bloomline_lines_insert_hashes(&params, lines, len, hashes.data(), hashes.size());
}
/// To be used for as long as the lines are there.
inline Result<View> lines_view(const Params &params, const void *lines, std::size_t len) noexcept {
    bloomline_view view{};
    Status status = bloomline_lines_view(&params, lines, len, &view);
    return status ? Result<View>(View(view)) : status;
}

/// The filters of one block after the other, from keys that come one by one.
class Builder : public detail::Handle<bloomline_builder> {
public:
    Builder() noexcept = default;
    /// Takes over a handle of the C interface.
    explicit Builder(bloomline_builder *raw) noexcept : Handle(raw) {}

    static Result<Builder> create(double bits_per_key, std::uint64_t seed = 0) noexcept {
        bloomline_builder *raw = nullptr;
        Status status = bloomline_builder_new(bits_per_key, seed, &raw);
        return status ? Result<Builder>(Builder(raw)) : status;
    }

    Status add(Bytes key) noexcept {
        return bloomline_builder_add(get(), key.data(), key.size());
    }
    Status add_u64(std::uint64_t key) noexcept { return add(IntegerKey(key)); }
    Status add_hash(std::uint64_t hash) noexcept { return bloomline_builder_add_hash(get(), hash); }
    std::size_t key_count() const noexcept { return bloomline_builder_key_count(get()); }

    /// What finish() will write.
    std::size_t block_len() const noexcept { return bloomline_builder_block_len(get()); }
    Status finish(void *out, std::size_t cap, std::size_t *written = nullptr) noexcept {
        return bloomline_builder_finish(get(), out, cap, written);
    }
    Result<std::vector<std::uint8_t>> finish() {
        std::vector<std::uint8_t> block(block_len());
        Status status = finish(block.data(), block.size());
        return status ? Result<std::vector<std::uint8_t>>(std::move(block)) : status;
    }
};

} // namespace abi_0
} // namespace bloomline

#endif // BLOOMLINE_HPP
