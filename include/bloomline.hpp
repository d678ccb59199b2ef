// SPDX-License-Identifier: MIT OR Apache-2.0
//
// bloomline.hpp - bloomline.h for C++17: handles that free themselves, keys from strings, integers
// and ranges, batches from containers. Header only. What bloomline.h says of a function holds here.
//
// Nothing here throws by itself, and the header compiles with -fno-exceptions -fno-rtti. What can
// fail returns a Status, or a Result, which is a Status and a value.
//
//     auto filter = bloomline::Filter::create(bloomline::params_for_rate(1000, 0.01));
//     if (!filter) { std::fputs(filter.message(), stderr); return 1; }
//     filter->insert(bloomline::text("apple"));
//     filter->insert_u64(42);
//     filter->insert_range(names);           // std::vector<std::string> names
//     assert(filter->contains(std::string("apple")));
//
// A key is a container, a pointer and a size, or text("..."). An array of char or a char pointer does not compile as a
// key. The compiler cannot tell text that ends in a NUL from a key of N bytes, and a wrong guess would be a false
// negative. See Bytes.
//
// Borrowing from a temporary does not compile: view() and get() of a temporary handle, View::open()
// and keys() of a temporary container, -> on a temporary Result.
//
// insert() of one key returns whether the key was new. That of a CuckooFilter, ScalableFilter or GrowingFilter can fail,
// and returns a Status. For a batch, Filter::insert_new_keys() says which keys were new, and so does insert_keys() of
// the other classes, except CuckooFilter. Functions that need no class, such as bloomline_set_allocator(), are called as
// in C.
//
// Handles can be moved, and copied by clone(). An empty handle (default-constructed, moved from, or
// of a failed Result) is safe to use: contains() returns true, and inserts do nothing.

#ifndef BLOOMLINE_HPP
#define BLOOMLINE_HPP

#if defined(_MSVC_LANG) ? _MSVC_LANG < 201703L : __cplusplus < 201703L
#error "bloomline.hpp needs C++17: -std=c++17 or /std:c++17"
#endif

#include "bloomline.h"
#include "bloomline_inline.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
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
/// Named after the binary interface: objects compiled for another one do not link with these.
inline namespace abi_0 {

static_assert(BLOOMLINE_ABI_VERSION == 0, "rename the namespace to the new number");

/// The binary interface and the version that this header was written for.
inline constexpr uint32_t abi_version = BLOOMLINE_ABI_VERSION;
inline constexpr uint32_t version_number = BLOOMLINE_VERSION;

/// Returns whether the library that is linked or loaded has that binary interface.
[[nodiscard]] inline bool abi_matches() noexcept { return bloomline_abi_version() == abi_version; }
/// Returns the version of the library, such as "0.1.0".
[[nodiscard]] inline const char *version() noexcept { return bloomline_version(); }
/// Returns the instructions that probes use, such as "avx2"; "none" if nothing can be made or opened.
[[nodiscard]] inline const char *backend() noexcept { return bloomline_backend(); }

// ---- statuses and results ---------------------------------------------------------------------
/// BLOOMLINE_OK, or what went wrong; true if it is BLOOMLINE_OK.
class [[nodiscard]] Status {
public:
    constexpr Status(bloomline_status code = BLOOMLINE_OK) noexcept : code_(code) {}
    constexpr explicit operator bool() const noexcept { return code_ == BLOOMLINE_OK; }
    /// A BLOOMLINE_ERR_ number; BLOOMLINE_OK is 0.
    [[nodiscard]] constexpr bloomline_status code() const noexcept { return code_; }
    /// One line of English that says what the code means.
    [[nodiscard]] const char *message() const noexcept { return bloomline_status_message(code_); }
private:
    bloomline_status code_;
};

/// A value, or a Status that says why there is none; true if there is a value. * and -> lead to the
/// value. Without one it is T's default: an empty handle, empty bytes, zeros. Name a Result before
/// you use -> on it: only members of plain structs, such as Params, can be read from a temporary one.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) noexcept : value_(std::move(value)) {}
    Result(Status status) noexcept : status_(status) {}
    explicit operator bool() const noexcept { return bool(status_); }
    Status status() const noexcept { return status_; }
    [[nodiscard]] bloomline_status code() const noexcept { return status_.code(); }
    [[nodiscard]] const char *message() const noexcept { return status_.message(); }
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
    /// The value, or 'other' if there is none.
    [[nodiscard]] T value_or(T other) const & { return status_ ? value_ : std::move(other); }
    [[nodiscard]] T value_or(T other) && { return std::move(status_ ? value_ : other); }
private:
    Status status_;
    T value_{};
};

// ---- keys, and other data of the caller -------------------------------------------------------
/// A caller-owned array: a pointer and a size, an array, or anything with data() and size(), such
/// as std::vector, std::array and std::span.
template <class T>
class Span {
public:
    constexpr Span() noexcept = default;
    constexpr Span(T *data, size_t size) noexcept : data_(data), size_(size) {}
    // {0, 5} is not a null pointer and a size, but two elements.
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    Span(I, size_t) BLOOMLINE_DELETED("an integer is no pointer: give an array or a container");
    template <size_t N>
    constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<
                           std::remove_pointer_t<decltype(std::declval<C &>().data())> (*)[], T (*)[]>>>
    constexpr Span(C &&container) noexcept : data_(container.data()), size_(container.size()) {}
    [[nodiscard]] constexpr T *data() const noexcept { return data_; }
    [[nodiscard]] constexpr size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr T *begin() const noexcept { return data_; }
    [[nodiscard]] constexpr T *end() const noexcept { return data_ + size_; }
private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

/// A caller-owned array of integers that are as wide as U, with or without a sign. Their bytes count: -1 and the
/// largest U are one key.
template <class U>
class Integers : public Span<const U> {
    template <class I>
    using Alike = std::enable_if_t<std::is_integral_v<I> && sizeof(I) == sizeof(U)>;
public:
    constexpr Integers() noexcept = default;
    constexpr Integers(const U *data, size_t size) noexcept : Span<const U>(data, size) {}
    template <class I, class = Alike<I>>
    Integers(I *data, size_t size) noexcept : Span<const U>(reinterpret_cast<const U *>(data), size) {}
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    Integers(I, size_t) BLOOMLINE_DELETED("an integer is no pointer: give an array or a container");
    template <class I, size_t N, class = Alike<I>>
    Integers(I (&array)[N]) noexcept : Integers(array, N) {}
    template <class C, class I = std::remove_pointer_t<decltype(std::declval<C &>().data())>, class = Alike<I>>
    Integers(C &&container) noexcept : Integers(container.data(), container.size()) {}
};

/// Caller-owned bytes, such as a key or a file. All bytes count, NULs too:
///
///     text("apple"), "apple"sv        5 bytes; a string literal alone does not compile
///     {pointer, size}                 'size' bytes
///     std::string, std::vector<uint8_t>, a Slice: what has data(), size() and elements of one byte
///     unsigned char[N], uint8_t[N], std::byte[N]                             N bytes
///
/// An array of char or a char pointer does not compile: say text(p) for what is before the NUL, or
/// {p, size}.
class Bytes {
public:
    constexpr Bytes() noexcept = default;
    constexpr Bytes(const void *data, size_t size) noexcept : data_(data), size_(size) {}
    constexpr Bytes(const bloomline_bytes &bytes) noexcept : data_(bytes.data), size_(bytes.len) {}
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    Bytes(I, size_t) BLOOMLINE_DELETED("an integer is no pointer");
    // Of char, arrays and literals too: text("..."), "..."sv, {pointer, size}
    Bytes(const char *) BLOOMLINE_DELETED("say text(p) for a C string, {p, size} for bytes");
    Bytes(std::nullptr_t) = delete;
    template <class B, size_t N,
              class = std::enable_if_t<std::is_same_v<B, unsigned char> ||
                                       std::is_same_v<B, signed char> || std::is_same_v<B, std::byte>>>
    constexpr Bytes(const B (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<sizeof(*std::declval<const C &>().data()) == 1>>
    constexpr Bytes(const C &container) noexcept : data_(container.data()), size_(container.size()) {}
    [[nodiscard]] constexpr const void *data() const noexcept { return data_; }
    [[nodiscard]] constexpr size_t size() const noexcept { return size_; }
    operator bloomline_bytes() const noexcept { return {static_cast<const uint8_t *>(data_), size_}; }
private:
    const void *data_ = nullptr;
    size_t size_ = 0;
};

/// The bytes of a C string before its NUL. A null pointer is a key that may be present in every
/// filter; inserted or hashed, it is the empty key.
[[nodiscard]] constexpr Bytes text(const char *string) noexcept {
    return string == nullptr ? Bytes(nullptr, 1) : Bytes(string, std::char_traits<char>::length(string));
}

/// An integer as a key: its 8 bytes, least significant first, on every CPU.
class IntegerKey {
public:
    constexpr IntegerKey() noexcept = default;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    constexpr explicit IntegerKey(uint64_t key) noexcept : bytes_(__builtin_bswap64(key)) {}
#else
    constexpr explicit IntegerKey(uint64_t key) noexcept : bytes_(key) {}
#endif
    [[nodiscard]] const uint8_t *data() const noexcept { return reinterpret_cast<const uint8_t *>(&bytes_); }
    [[nodiscard]] constexpr size_t size() const noexcept { return sizeof bytes_; }
private:
    // One word, written by one store: of bytes stored one by one, a load of all would have to wait.
    uint64_t bytes_ = 0;
};

/// The name of a file: const char *, std::string or std::filesystem::path.
class Path {
public:
    Path(const char *path) noexcept : path_(path) {}
    template <class P, class = decltype(std::declval<const P &>().c_str())>
    Path(const P &path) {
        if constexpr (std::is_same_v<typename P::value_type, char>) {
            path_ = path.c_str();
        } else { // std::filesystem::path on Windows: the library takes UTF-8
            const auto utf8 = path.u8string();
            converted_.assign(utf8.begin(), utf8.end());
        }
    }
    [[nodiscard]] const char *c_str() const noexcept { return converted_.empty() ? path_ : converted_.c_str(); }
private:
    const char *path_ = "";
    std::string converted_;
};

/// Bytes that a call here wrote: an encoded filter, a block.
using Buffer = std::vector<uint8_t>;
using Params = bloomline_params;
using CuckooParams = bloomline_cuckoo_params;
using CascadeFacts = bloomline_cascade_facts;
using ViewFacts = bloomline_view_facts;
using ScalableFacts = bloomline_scalable_facts;
using GrowingFacts = bloomline_growing_facts;
using WindowFacts = bloomline_window_facts;
using MatrixShape = bloomline_matrix_shape;
using ByteRange = bloomline_byte_range;
using MatrixPair = bloomline_matrix_pair;
class View;

namespace detail {
// Whether what T::data() points at goes away with a T. A T that only borrows (std::string_view,
// std::span, a Slice) has a trivial destructor, and its data() has the same type if the T is const.
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

// Whether an It up to an End is a loop. A pointer ends at a pointer: nullptr is none.
template <class It, class End>
using Loop = std::enable_if_t<std::is_same_v<It, End> || std::is_class_v<End>,
                              decltype(*std::declval<It &>(), ++std::declval<It &>(),
                                       bool(std::declval<It &>() != std::declval<End &>()))>;

// What an iterator gets at each step; whether it is an integer, and whether its bytes stay where
// they are when the iterator goes on: not if they are made on the way.
template <class It>
using Step = decltype(*std::declval<It &>());
template <class It>
inline constexpr bool steps_integers = std::is_integral_v<std::remove_cv_t<std::remove_reference_t<Step<It>>>>;
template <class It, class = void>
inline constexpr bool steps_stay = false;
template <class It>
inline constexpr bool steps_stay<It, std::void_t<typename std::iterator_traits<It>::iterator_category>> =
    std::is_base_of_v<std::forward_iterator_tag, typename std::iterator_traits<It>::iterator_category> &&
    (std::is_lvalue_reference_v<Step<It>> || !owns<Step<It>>);
} // namespace detail

/// The keys of a batch from a container of strings, or of anything that Bytes can be made of.
/// The strings must outlive the result.
template <class C, std::enable_if_t<!detail::owning_temporary<C> || !detail::owns<detail::Element<C>>, int> = 0>
[[nodiscard]] std::vector<bloomline_bytes> keys(C &&strings) {
    static_assert(std::is_lvalue_reference_v<detail::Element<C>> || !detail::owns<detail::Element<C>>,
                  "each string is made as the loop comes to it, and is gone afterwards");
    std::vector<bloomline_bytes> keys;
    keys.reserve(std::size(strings));
    for (const auto &string : strings) keys.push_back(Bytes(string));
    return keys;
}
template <class C, std::enable_if_t<detail::owning_temporary<C> && detail::owns<detail::Element<C>>, int> = 0>
std::vector<bloomline_bytes> keys(C &&strings) BLOOMLINE_DELETED("the strings are a temporary: name them first");

/// Returns the hash of a key, for the functions that take hashes: XXH3-64. 'seed' must be the filter's.
[[nodiscard]] inline uint64_t hash(Bytes key, uint64_t seed = 0) noexcept {
    return bloomline_hash(key.data(), key.size(), seed);
}
[[nodiscard]] inline uint64_t hash_u64(uint64_t key, uint64_t seed = 0) noexcept {
    return bloomline_hash_u64(key, seed);
}
/// The hashes of many keys, in their order.
[[nodiscard]] inline std::vector<uint64_t> hash_batch(Span<const bloomline_bytes> keys, uint64_t seed = 0) {
    std::vector<uint64_t> hashes(keys.size());
    bloomline_hash_batch(keys.data(), keys.size(), seed, hashes.data());
    return hashes;
}
[[nodiscard]] inline std::vector<uint64_t> hash_u64_batch(Integers<uint64_t> keys, uint64_t seed = 0) {
    std::vector<uint64_t> hashes(keys.size());
    bloomline_hash_u64_batch(keys.data(), keys.size(), seed, hashes.data());
    return hashes;
}
/// Hashes integers by their 4 bytes: keys other than the same numbers of 64 bits.
[[nodiscard]] inline std::vector<uint64_t> hash_u32_batch(Integers<uint32_t> keys, uint64_t seed = 0) {
    std::vector<uint64_t> hashes(keys.size());
    bloomline_hash_u32_batch(keys.data(), keys.size(), seed, hashes.data());
    return hashes;
}
namespace detail {
/// The number of the lowest bit that is set, of which there is one.
inline size_t lowest_bit(uint64_t bits) noexcept {
#if defined(__GNUC__)
    return static_cast<size_t>(__builtin_ctzll(bits));
#else
    size_t i = 0;
    for (; (bits & 255) == 0; bits >>= 8) i += 8;
    for (; (bits & 1) == 0; bits >>= 1) i++;
    return i;
#endif
}
} // namespace detail

/// The answers to a batch, one bit for each key. Reuse it: the next batch need not allocate.
class Bitmap {
public:
    /// Bit i, which must be less than size(): it is not checked.
    [[nodiscard]] bool operator[](size_t i) const noexcept { return words_[i / 64] >> (i % 64) & 1; }
    /// Returns how many bits there are: one for each key that was asked.
    [[nodiscard]] size_t size() const noexcept { return size_; }
    /// Returns how many bits are set.
    [[nodiscard]] size_t count() const noexcept { return count_; }
    /// The bits, 64 in a word: bit i is bit i % 64 of word i / 64.
    [[nodiscard]] const std::vector<uint64_t> &words() const noexcept { return words_; }

    /// Calls f(i) for every bit i that is set, in order.
    template <class F>
    void for_each(F &&f) const {
        for (size_t word = 0; word < words_.size(); word++) {
            for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) f(64 * word + detail::lowest_bit(bits));
        }
    }
    /// Calls f(i) for every bit i below size() that is not set, in order. In answers in rows, those behind the last
    /// answer of a row are among them.
    template <class F>
    void for_each_unset(F &&f) const {
        for (size_t word = 0; word < words_.size(); word++) {
            uint64_t bits = ~words_[word];
            if (size_ - 64 * word < 64) bits &= (uint64_t{1} << size_ % 64) - 1;
            for (; bits != 0; bits &= bits - 1) f(64 * word + detail::lowest_bit(bits));
        }
    }

    /// Makes 'size' answers, all true.
    void fill_all(size_t size) {
        words_.assign(size / 64 + (size % 64 != 0), ~uint64_t{0});
        if (size % 64 != 0) words_.back() = (uint64_t{1} << size % 64) - 1;
        size_ = count_ = size;
    }
    /// The same as fill(), for rows of 'columns' answers, each of which begins in a word of its own.
    /// If a size_t cannot count the bits, no vector can hold them: reserve() then throws.
    template <class Write, class... A>
    auto fill_rows(size_t columns, size_t rows, Write write, A... arguments) {
        const size_t stride = (columns + 63) / 64 * 64;
        if (stride != 0 && rows > SIZE_MAX / stride) words_.reserve(SIZE_MAX);
        return fill(stride * rows, write, arguments...);
    }
    /// Makes room for 'size' answers and calls write(arguments..., words). Returns what that returns:
    /// how many bits are set, or a Status.
    template <class Write, class... A>
    auto fill(size_t size, Write write, A... arguments) {
        words_.assign(size / 64 + (size % 64 != 0), 0);
        size_ = size;
        count_ = 0;
        auto answer = write(arguments..., words_.data());
        if constexpr (std::is_same_v<decltype(answer), Status>) {
            for_each([this](size_t) { count_++; });
        } else {
            count_ = answer;
        }
        return answer;
    }
private:
    std::vector<uint64_t> words_;
    size_t size_ = 0;
    size_t count_ = 0;
};

/// What a probe says of a row without a value: that it is absent, as in a join, or that it may be present.
enum class Nulls : bool { absent, present };
/// Which rows of a column have a value, as in Apache Arrow: a bit for each, the lowest of a byte first, from bit
/// 'first_bit' on. Without bits, as in a default-constructed one, all have.
struct Validity {
    std::optional<Bytes> bits{};
    size_t first_bit = 0;
    Nulls nulls = Nulls::absent;
};
/// A column of keys, of which some rows may be null: see bloomline_column. It refers to the arrays. Strings are those
/// of Apache Arrow: n of them have n + 1 offsets.
class Column {
public:
    static Column hashes(Span<const uint64_t> values, const Validity &validity = {}) noexcept {
        return {BLOOMLINE_COLUMN_HASHES, values.data(), values.size(), validity};
    }
    static Column u64(Integers<uint64_t> values, const Validity &validity = {}) noexcept {
        return {BLOOMLINE_COLUMN_U64, values.data(), values.size(), validity};
    }
    static Column u32(Integers<uint32_t> values, const Validity &validity = {}) noexcept {
        return {BLOOMLINE_COLUMN_U32, values.data(), values.size(), validity};
    }
    static Column strings(Span<const int32_t> offsets, Bytes data, const Validity &validity = {}) noexcept {
        return {BLOOMLINE_COLUMN_STRINGS, offsets, data, validity};
    }
    static Column strings(Span<const int64_t> offsets, Bytes data, const Validity &validity = {}) noexcept {
        return {BLOOMLINE_COLUMN_LARGE_STRINGS, offsets, data, validity};
    }
    template <class A, class = std::enable_if_t<detail::owning_temporary<A>>>
    static Column hashes(A &&, const Validity & = {}) BLOOMLINE_DELETED("the values are a temporary: name them first");
    template <class A, class = std::enable_if_t<detail::owning_temporary<A>>>
    static Column u64(A &&, const Validity & = {}) BLOOMLINE_DELETED("the values are a temporary: name them first");
    template <class A, class = std::enable_if_t<detail::owning_temporary<A>>>
    static Column u32(A &&, const Validity & = {}) BLOOMLINE_DELETED("the values are a temporary: name them first");
    template <class A, class B, class = std::enable_if_t<detail::owning_temporary<A> || detail::owning_temporary<B>>>
    static Column strings(A &&, B &&, const Validity & = {}) BLOOMLINE_DELETED("the strings are a temporary: name them first");
    /// How many rows.
    [[nodiscard]] size_t size() const noexcept { return raw_.n; }
    [[nodiscard]] bool nulls() const noexcept { return nulls_ == Nulls::present; }
    /// BLOOMLINE_ERR_TRUNCATED if the validity has too few bits, or the data too few bytes for the last offset. Then
    /// probes say that all rows may be present.
    [[nodiscard]] Status status() const noexcept { return status_; }
    /// For functions of the C interface. If status() is an error, they see a column of an unknown type.
    [[nodiscard]] const bloomline_column *get() const noexcept { return &raw_; }
private:
    Column(size_t type, const void *values, size_t n, const Validity &validity) noexcept
        : raw_{type, values, nullptr, n, nullptr, validity.first_bit}, nulls_(validity.nulls) {
        if (!validity.bits) return;
        raw_.validity = static_cast<const uint8_t *>(validity.bits->data());
        const size_t bits = validity.bits->size() * 8, first = validity.first_bit;
        if (first > bits || n > bits - first) fail();
    }
    template <class O>
    Column(size_t type, Span<const O> offsets, Bytes data, const Validity &validity) noexcept
        : Column(type, offsets.data(), offsets.size() - (offsets.size() != 0), validity) {
        raw_.data = data.data();
        const O end = size() != 0 ? offsets.data()[size()] : 0;
        if (end > 0 && static_cast<uint64_t>(end) > data.size()) fail();
    }
    void fail() noexcept {
        status_ = BLOOMLINE_ERR_TRUNCATED;
        raw_.type = SIZE_MAX;
    }
    bloomline_column raw_;
    Nulls nulls_;
    Status status_{};
};
/// The hashes of the rows of a column, in their order: see bloomline_hash_column(). That of a row that is null is 0.
inline Result<std::vector<uint64_t>> hash_column(const Column &column, uint64_t seed = 0) {
    if (!column.status()) return column.status();
    std::vector<uint64_t> hashes(column.size());
    const Status status = bloomline_hash_column(column.get(), seed, hashes.data());
    if (!status) return status;
    return hashes;
}

// ---- the C functions of all kinds, and what the classes share ----------------------------------
namespace detail {
// What a call of the C interface returns, as a Status where it is one.
template <class R>
using Answer = std::conditional_t<std::is_same_v<R, bloomline_status>, Status, R>;

/// C<bloomline_filter>::insert() is bloomline_filter_insert(), and so on, so that what several kinds
/// have is written once. A last argument that may be NULL can be left out.
template <class Raw>
struct C;

#define BLOOMLINE_AS(call) ->Answer<decltype(call)> { return call; }
#define BLOOMLINE_FN(kind, name)                                                                     \
    struct name##_fn {                                                                               \
        template <class... A>                                                                        \
        auto operator()(A... a) const noexcept BLOOMLINE_AS(bloomline_##kind##_##name(a...))         \
        template <class... A>                                                                        \
        auto operator()(A... a) const noexcept BLOOMLINE_AS(bloomline_##kind##_##name(a..., nullptr)) \
    };                                                                                               \
    static constexpr name##_fn name{};
#define BLOOMLINE_FNS(Raw, kind)                                                                     \
    template <>                                                                                      \
    struct C<Raw> {                                                                                  \
        BLOOMLINE_FN(kind, free) BLOOMLINE_FN(kind, clone)                                           \
        BLOOMLINE_FN(kind, contains) BLOOMLINE_FN(kind, contains_hash)                               \
        BLOOMLINE_FN(kind, contains_hashes) BLOOMLINE_FN(kind, contains_keys)                        \
        BLOOMLINE_FN(kind, insert) BLOOMLINE_FN(kind, insert_hash)                                   \
        BLOOMLINE_FN(kind, insert_hashes) BLOOMLINE_FN(kind, insert_keys)                            \
        BLOOMLINE_FN(kind, remove) BLOOMLINE_FN(kind, remove_hash)                                   \
        BLOOMLINE_FN(kind, remove_hashes) BLOOMLINE_FN(kind, remove_keys) BLOOMLINE_FN(kind, clear)  \
        BLOOMLINE_FN(kind, view) BLOOMLINE_FN(kind, memory)                                          \
        BLOOMLINE_FN(kind, encoded_len) BLOOMLINE_FN(kind, encode) BLOOMLINE_FN(kind, write)         \
        BLOOMLINE_FN(kind, decode) BLOOMLINE_FN(kind, save) BLOOMLINE_FN(kind, load)                 \
    };
// Functions that have other names in bloomline.h.
inline bloomline_status bloomline_counting_view(const bloomline_counting *filter, bloomline_view *out) noexcept {
    return bloomline_filter_view(bloomline_counting_filter(filter), out);
}
inline void bloomline_map_free(bloomline_map *map) noexcept { bloomline_map_close(map); }
inline void bloomline_snapshot_free(const bloomline_filter *filter) noexcept { bloomline_swap_release(filter); }
inline size_t bloomline_snapshot_memory(const bloomline_filter *filter) noexcept {
    return bloomline_filter_memory(filter);
}
inline auto bloomline_snapshot_view(const bloomline_filter *filter, bloomline_view *out) noexcept {
    return bloomline_filter_view(filter, out);
}
BLOOMLINE_FNS(bloomline_view, view) BLOOMLINE_FNS(bloomline_filter, filter)
BLOOMLINE_FNS(bloomline_concurrent, concurrent) BLOOMLINE_FNS(bloomline_counting, counting)
BLOOMLINE_FNS(bloomline_concurrent_builder, concurrent_builder)
BLOOMLINE_FNS(bloomline_cuckoo, cuckoo) BLOOMLINE_FNS(bloomline_scalable, scalable)
BLOOMLINE_FNS(bloomline_window, window) BLOOMLINE_FNS(bloomline_builder, builder)
BLOOMLINE_FNS(bloomline_map, map) BLOOMLINE_FNS(bloomline_swap, swap)
BLOOMLINE_FNS(const bloomline_filter, snapshot) BLOOMLINE_FNS(bloomline_cascade, cascade)
BLOOMLINE_FNS(bloomline_group, group) BLOOMLINE_FNS(bloomline_matrix, matrix)
BLOOMLINE_FNS(bloomline_growing, growing) BLOOMLINE_FNS(bloomline_journal, journal)
#undef BLOOMLINE_FNS
#undef BLOOMLINE_FN
#undef BLOOMLINE_AS
/// A T of what 'make' writes to its last argument, an Out.
template <class T, class Out = T, class Make, class... A>
Result<T> made(Make make, A... arguments) noexcept {
    Out out{};
    Status status = make(arguments..., &out);
    return status ? Result<T>(T(out)) : status;
}
template <class Self, class Make, class P>
Result<Self> created(Make make, const Result<P> &params) noexcept {
    return params ? made<Self, typename Self::Raw *>(make, &*params) : Result<Self>(params.status());
}
template <class P, class Make>
Result<P> seeded(Make make, uint64_t keys, double goal, uint64_t seed) noexcept {
    Result<P> params = made<P>(make, keys, goal);
    params->seed = seed;
    return params;
}
inline const bloomline_view *raw(Span<const View> views) noexcept {
    return reinterpret_cast<const bloomline_view *>(views.data());
}
inline const bloomline_view *const *raw(Span<const View *const> views) noexcept {
    return reinterpret_cast<const bloomline_view *const *>(views.data());
}
/// The bytes that 'write' writes, at most 'len'. It tells how many.
template <class Write>
Result<Buffer> some_of(size_t len, Write write) {
    Buffer bytes(len);
    size_t written = 0;
    Status status = write(bytes.data(), bytes.size(), &written);
    bytes.resize(written);
    return status ? Result<Buffer>(std::move(bytes)) : status;
}

/// The 'len' bytes that 'write' writes. A 'len' of SIZE_MAX: there was no memory to find out how many they are.
template <class Write>
Result<Buffer> bytes_of(size_t len, Write write) {
    if (len == SIZE_MAX) return Status(BLOOMLINE_ERR_OUT_OF_MEMORY);
    Buffer bytes(len);
    Status status = write(bytes.data(), bytes.size());
    return status ? Result<Buffer>(std::move(bytes)) : status;
}

template <class T>
IntegerKey integer(T key) noexcept {
    static_assert(sizeof(T) == 8, "an integer as a key has 64 bits");
    return IntegerKey(static_cast<uint64_t>(key));
}
template <class T>
uint64_t hash_of(const T &key, uint64_t seed) noexcept {
    if constexpr (std::is_integral_v<T>) {
        static_assert(sizeof(T) == 8, "an integer as a key has 64 bits");
        return bloomline_hash_u64(static_cast<uint64_t>(key), seed);
    } else {
        return hash(key, seed);
    }
}
/// Hashes the keys from 'first' to 'last', and gives the hashes to 'insert' in blocks. Returns the
/// sum of what it returns, or its last failure. A filter that is full gets no more blocks.
template <class It, class End, class Insert>
auto insert_blocks(It first, End last, uint64_t seed, Insert insert) {
    using R = decltype(insert(Span<const uint64_t>()));
    std::conditional_t<std::is_void_v<R>, Status, R> total{};
    uint64_t hashes[256];
    while (first != last) {
        size_t size = 0;
        for (; size < 256 && first != last; ++first) hashes[size++] = hash_of(*first, seed);
        const Span<const uint64_t> block(hashes, size);
        if constexpr (std::is_void_v<R>) {
            insert(block);
        } else if constexpr (std::is_same_v<R, Status>) {
            if (Status status = insert(block); !status) total = status;
            if (total.code() == BLOOMLINE_ERR_FULL) break;
        } else {
            total += insert(block);
        }
    }
    if constexpr (!std::is_void_v<R>) return total;
}

/// The view of a handle that all later changes are seen through: made once.
template <class R>
struct Lasting {
    void make(const R *) noexcept {}
};
template <class R>
struct LastingView {
    void make(const R *raw) noexcept { (void)C<R>::view(raw, &lasting_view); }
    bloomline_view lasting_view{};
};
template <>
struct Lasting<bloomline_scalable> : LastingView<bloomline_scalable> {};
template <>
struct Lasting<bloomline_window> : LastingView<bloomline_window> {};
template <>
struct Lasting<bloomline_cascade> : LastingView<bloomline_cascade> {};
template <>
struct Lasting<bloomline_growing> : LastingView<bloomline_growing> {};
template <>
struct Lasting<bloomline_map> : LastingView<bloomline_map> {};

/// A handle of the C interface that frees itself.
template <class R>
class Handle : Lasting<R> {
public:
    using Raw = R;
    Handle() noexcept = default;
    /// Takes ownership of a handle of the C interface.
    explicit Handle(Raw *raw) noexcept : raw_(raw) { this->make(raw); }
    explicit operator bool() const noexcept { return bool(raw_); }
    /// The handle, for a function of the C interface.
    [[nodiscard]] Raw *get() const & noexcept { return raw_.get(); }
    Raw *get() const && BLOOMLINE_DELETED("the owner is a temporary: name it, or release()");
    /// Gives the handle up to a caller who frees it.
    [[nodiscard]] Raw *release() noexcept { return raw_.release(); }
    /// Of a filter of any kind: how many bytes its lines, counters and marks take. Those of the handle,
    /// some hundred, are not counted.
    [[nodiscard]] size_t memory_usage() const noexcept { return C<Raw>::memory(raw_.get()); }
protected:
    /// An empty handle has none.
    const bloomline_view *lasting() const noexcept {
        static constexpr bloomline_view none{};
        return raw_ ? &this->lasting_view : &none;
    }
private:
    template <class, class> friend class Probes;
    struct Free { void operator()(Raw *raw) const noexcept { C<Raw>::free(raw); } };
    std::unique_ptr<Raw, Free> raw_;
};

/// Of two functions, the one that writes rows of this vector's type.
template <class Rows, class Wide, class Narrow>
auto of_rows(Wide wide, Narrow narrow) noexcept {
    using Row = typename Rows::value_type;
    static_assert(std::is_same_v<Row, uint32_t> || std::is_same_v<Row, uint16_t>, "rows are uint32_t or uint16_t");
    if constexpr (sizeof(Row) == 4) {
        return wide;
    } else {
        return narrow;
    }
}
/// Makes 'rows' those, of n, that select(arguments..., n, rows) writes. Returns how many, or SIZE_MAX if it cannot.
template <class Rows, class Select, class... A>
size_t fill_rows(Rows &rows, size_t n, Select select, A &&...arguments) {
    rows.resize(n);
    const size_t count = select(arguments..., n, rows.data());
    rows.resize(count <= n ? count : 0);
    return count;
}

/// Probes through a view, unless the C interface probes the kind itself: then Probed is its handle.
template <class Self, class Probed = bloomline_view>
class Probes {
public:
    /// Returns false if the key is definitely absent, true if it may be present.
    [[nodiscard]] bool contains(Bytes key) const noexcept {
        return C<Probed>::contains(probed(), key.data(), key.size());
    }
    /// The same for an integer that was inserted by insert_u64().
    [[nodiscard]] bool contains_u64(uint64_t key) const noexcept { return contains(IntegerKey(key)); }
    /// The same for a key by the hash that it was inserted by.
    [[nodiscard]] bool contains_hash(uint64_t hash) const noexcept {
        return C<Probed>::contains_hash(probed(), hash);
    }
    /// Sets the bits of the keys that may be present, and returns how many they are.
    size_t contains_hashes(Span<const uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), C<Probed>::contains_hashes, probed(), hashes.data(), hashes.size());
    }
    /// The same for keys by their bytes, as keys() makes them of a container.
    size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out) const {
        return out.fill(keys.size(), C<Probed>::contains_keys, probed(), keys.data(), keys.size());
    }
protected:
    // A view that lasts as long as the call that it is an argument of.
    struct Argument {
        bloomline_view view;
        operator const bloomline_view *() const noexcept { return &view; }
    };
    auto viewed() const noexcept {
        if constexpr (std::is_same_v<decltype(self().get()), const bloomline_view &>) {
            return &self().get();
        } else if constexpr (std::is_base_of_v<LastingView<typename Self::Raw>, Lasting<typename Self::Raw>>) {
            return self().lasting();
        } else {
            Argument made{}; // and so of an empty handle: every key may be present
            (void)C<typename Self::Raw>::view(self().get(), &made.view);
            return made;
        }
    }
    auto probed() const noexcept {
        if constexpr (std::is_same_v<Probed, bloomline_view>) {
            return viewed();
        } else {
            return self().get();
        }
    }
private:
    const Self &self() const noexcept { return static_cast<const Self &>(*this); }
};

/// What has a view: all that a view tells.
template <class Self, class Probed = bloomline_view>
class Views : public Probes<Self, Probed> {
public:
    /// Valid until the filter is changed or freed. That of an empty handle answers true for every key. Keep
    /// it for many single probes: contains() of a CuckooFilter, CountingFilter or ConcurrentFilter makes
    /// one each time.
    template <class V = View>
    [[nodiscard]] V view() const & noexcept { return V(*static_cast<const bloomline_view *>(this->viewed())); }
    View view() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
    /// Returns the hash that this filter uses.
    [[nodiscard]] uint64_t hash(Bytes key) const noexcept {
        return bloomline_view_hash(this->viewed(), key.data(), key.size());
    }
    [[nodiscard]] uint64_t hash_u64(uint64_t key) const noexcept { return hash(IntegerKey(key)); }
    /// Probes a range of what Bytes can be made of, or of integers of 64 bits, in blocks. Writes to 'out', in order,
    /// true for each key that may be present and false for each that is definitely absent, and returns where they end.
    /// Up to twice as fast as one by one in memory; in cache faster for strings, as fast for integers. Its keys may be
    /// temporaries, which the range makes on the way: then it is faster in memory only.
    template <class Range, class Out>
    Out contains_range(Range &&keys, Out out) const {
        using std::begin, std::end;
        auto next = begin(keys);
        auto last = end(keys);
        constexpr size_t block = 256;
        uint64_t answers[block / 64];
        const auto write = [&](size_t size) {
            for (size_t i = 0; i < size; i++) *out++ = (answers[i / 64] >> (i % 64) & 1) != 0;
        };
        if constexpr (steps_integers<decltype(next)> || steps_stay<decltype(next)>) {
            const auto owner = this->probed();
            const Probed *const filter = owner;
            [[maybe_unused]] IntegerKey integers[steps_integers<decltype(next)> ? block : 1];
            bloomline_bytes bytes[block];
            while (next != last) {
                size_t size = 0;
                for (; size < block && next != last; ++next, ++size) {
                    if constexpr (steps_integers<decltype(next)>) {
                        bytes[size] = Bytes(integers[size] = integer(*next));
                    } else {
                        bytes[size] = Bytes(*next);
                    }
                }
                C<Probed>::contains_keys(filter, bytes, size, answers);
                write(size);
            }
        } else {
            const auto owner = this->viewed();
            const bloomline_view *const view = owner;
            uint64_t hashes[block];
            while (next != last) {
                uint64_t missing[block / 64] = {}; // a null pointer is a key that may be present
                size_t size = 0;
                const auto take = [&](Bytes key) {
                    if (key.data() == nullptr && key.size() != 0) missing[size / 64] |= uint64_t{1} << (size % 64);
                    hashes[size++] = bloomline_view_hash(view, key.data(), key.size());
                };
                for (; size < block && next != last; ++next) take(*next);
                bloomline_view_contains_hashes(view, hashes, size, answers);
                for (size_t i = 0; i < block / 64; i++) answers[i] |= missing[i];
                write(size);
            }
        }
        return out;
    }
    /// Writes the numbers of the rows of a column that may be present to 'rows', a vector of uint32_t or
    /// uint16_t that is resized to them, and returns how many they are. Reuse it: the next batch need not
    /// allocate. If uint16_t cannot count the rows, it is empty after, and SIZE_MAX is returned. Strings are
    /// those of Apache Arrow: see bloomline_view_select_u64(). That their offsets lie within the 'data' is the
    /// caller's promise.
    template <class Rows>
    size_t select_hashes(Span<const uint64_t> hashes, Rows &rows) const {
        return select(bloomline_view_select_hashes, bloomline_view_select16_hashes, rows, hashes.size(), hashes.data());
    }
    template <class Rows>
    size_t select_u64(Integers<uint64_t> values, Rows &rows) const {
        return select(bloomline_view_select_u64, bloomline_view_select16_u64, rows, values.size(), values.data());
    }
    template <class Rows>
    size_t select_u32(Integers<uint32_t> values, Rows &rows) const {
        return select(bloomline_view_select_u32, bloomline_view_select16_u32, rows, values.size(), values.data());
    }
    template <class Rows>
    size_t select_strings(Span<const int32_t> offsets, Bytes data, Rows &rows) const {
        return select(bloomline_view_select_strings, bloomline_view_select16_strings, rows, strings(offsets), offsets.data(),
                      data.data());
    }
    template <class Rows>
    size_t select_strings(Span<const int64_t> offsets, Bytes data, Rows &rows) const {
        return select(bloomline_view_select_large_strings, bloomline_view_select16_large_strings, rows, strings(offsets),
                      offsets.data(), data.data());
    }
    /// Keeps those rows of a selection that may be present, in their order, and returns how many they are.
    /// That the column has the rows is the caller's promise.
    template <class Rows>
    size_t refine_hashes(Span<const uint64_t> hashes, Rows &rows) const {
        return refine(bloomline_view_refine_hashes, bloomline_view_refine16_hashes, rows, hashes.data());
    }
    template <class Rows>
    size_t refine_u64(Integers<uint64_t> values, Rows &rows) const {
        return refine(bloomline_view_refine_u64, bloomline_view_refine16_u64, rows, values.data());
    }
    template <class Rows>
    size_t refine_u32(Integers<uint32_t> values, Rows &rows) const {
        return refine(bloomline_view_refine_u32, bloomline_view_refine16_u32, rows, values.data());
    }
    template <class Rows>
    size_t refine_strings(Span<const int32_t> offsets, Bytes data, Rows &rows) const {
        return refine(bloomline_view_refine_strings, bloomline_view_refine16_strings, rows, offsets.data(), data.data());
    }
    template <class Rows>
    size_t refine_strings(Span<const int64_t> offsets, Bytes data, Rows &rows) const {
        return refine(bloomline_view_refine_large_strings, bloomline_view_refine16_large_strings, rows, offsets.data(),
                      data.data());
    }
    /// The same for a Column of any type, also with nulls. If the column lacks a selected row, refine_column() leaves
    /// the whole selection as it is.
    template <class Rows>
    size_t select_column(const Column &column, Rows &rows) const {
        const auto write = of_rows<Rows>(bloomline_view_select_column, bloomline_view_select16_column);
        const auto select = [&](const bloomline_view *view, size_t, typename Rows::value_type *out) {
            return write(view, column.get(), column.nulls(), out);
        };
        return fill_rows(rows, column.size(), select, this->viewed());
    }
    template <class Rows>
    size_t refine_column(const Column &column, Rows &rows) const {
        return refine(bloomline_view_refine_column, bloomline_view_refine16_column, rows, column.get(), column.nulls());
    }
    /// Makes 'bytes' a byte for each row: 1 if it may be present, 0 if it is definitely absent.
    size_t mask_column(const Column &column, std::vector<uint8_t> &bytes) const {
        bytes.resize(column.size());
        return bloomline_view_mask_column(this->viewed(), column.get(), column.nulls(), bytes.data());
    }
    /// Bit i of 'out' is for row i.
    size_t contains_column(const Column &column, Bitmap &out) const {
        const auto owner = this->viewed();
        const bloomline_view *const view = owner;
        return out.fill(column.size(), bloomline_view_contains_column, view, column.get(), column.nulls());
    }
    /// Probes for keys that lie anywhere, by pointers to them. Writes to 'present', which has room for as
    /// many, whether each may be present; so may one whose pointer is null.
    void contains_each(Span<const bloomline_bytes *const> keys, bool *present) const noexcept {
        bloomline_view_contains_each(this->viewed(), keys.data(), keys.size(), present);
    }
    /// From how many keys on contains_each() takes less time than a loop of the function that View::contains_fn()
    /// returns; SIZE_MAX: never.
    [[nodiscard]] std::size_t fewest_each() const noexcept { return bloomline_view_fewest_each(this->viewed()); }
    /// Line count, k, layout and seed of a plain, classic or counting filter; BLOOMLINE_ERR_LAYOUT for
    /// others: see bloomline_view_shape().
    Result<Params> params() const noexcept {
        const Result<Params> shape =
            made<Params>(bloomline_view_shape, static_cast<const bloomline_view *>(this->viewed()));
        const bool of_lines = !shape || shape->layout == 0 || shape->layout == BLOOMLINE_KIND_CLASSIC;
        return of_lines ? shape : Result<Params>(Status(BLOOMLINE_ERR_LAYOUT));
    }
    /// How many keys were counted: see bloomline_view_key_count().
    [[nodiscard]] uint64_t key_count() const noexcept { return bloomline_view_key_count(this->viewed()); }
    /// How full it is, in one call: see bloomline_view_about(). A view that was not opened is
    /// reported as full and without keys.
    [[nodiscard]] ViewFacts facts() const noexcept {
        ViewFacts facts{1, 0, 1, 1};
        (void)bloomline_view_about(this->viewed(), &facts);
        return facts;
    }
    /// The fill ratio; the load factor of a cuckoo filter.
    [[nodiscard]] double fill() const noexcept { return facts().fill; }
    [[nodiscard]] double estimated_keys() const noexcept { return facts().estimated_keys; }
    /// The false-positive rate now.
    [[nodiscard]] double estimated_rate() const noexcept { return facts().estimated_rate; }
    /// Of the fullest line: near 1 if an attacker chose keys that all fall on it.
    [[nodiscard]] double worst_line_rate() const noexcept { return facts().worst_line_rate; }
private:
    template <class O>
    static size_t strings(Span<O> offsets) noexcept { return offsets.size() - (offsets.size() != 0); }
    template <class Wide, class Narrow, class Rows, class... A>
    size_t select(Wide wide, Narrow narrow, Rows &rows, size_t n, A... column) const {
        return fill_rows(rows, n, of_rows<Rows>(wide, narrow), this->viewed(), column...);
    }
    template <class Wide, class Narrow, class Rows, class... A>
    size_t refine(Wide wide, Narrow narrow, Rows &rows, A... column) const {
        const size_t count = of_rows<Rows>(wide, narrow)(this->viewed(), column..., rows.data(), rows.size());
        rows.resize(count);
        return count;
    }
};

// Whether a batch says which keys were new.
template <class R>
constexpr bool tells_new = !std::is_same_v<R, bloomline_filter> && !std::is_same_v<R, bloomline_cuckoo>;
/// Inserts. 'auto' is what the C function returns:
///
///                                     one key              many keys
///     Filter                          bool: it was new     nothing
///     ConcurrentFilter,
///     CountingFilter, Window          bool: it was new     size_t: how many were new
///     CuckooFilter, ScalableFilter,
///     GrowingFilter                   Status               Status
template <class Self, class R>
class Inserts : public Handle<R> {
public:
    using Handle<R>::Handle;
    /// 'out' may be left out: where to write 'is_new' of a ScalableFilter or GrowingFilter, or how many keys of a
    /// batch a CuckooFilter inserted, in order, before one for which there was no room.
    template <class... Out>
    auto insert(Bytes key, Out *...out) noexcept { return C<R>::insert(this->get(), key.data(), key.size(), out...); }
    /// An integer: its 8 bytes, least significant first.
    template <class... Out>
    auto insert_u64(uint64_t key, Out *...out) noexcept { return insert(IntegerKey(key), out...); }
    /// A key by its hash: hash(key, seed()), or your own, which must be uniform over all 64 bits. For an integer
    /// std::hash is not: see "Hashes" in bloomline.h.
    template <class... Out>
    auto insert_hash(uint64_t hash, Out *...out) noexcept { return C<R>::insert_hash(this->get(), hash, out...); }
    /// Many keys, faster than one by one.
    template <class... Out>
    auto insert_hashes(Span<const uint64_t> hashes, Out *...out) noexcept {
        return C<R>::insert_hashes(this->get(), hashes.data(), hashes.size(), out...);
    }
    template <class... Out>
    auto insert_keys(Span<const bloomline_bytes> keys, Out *...out) noexcept {
        return C<R>::insert_keys(this->get(), keys.data(), keys.size(), out...);
    }
    /// Sets the bits of the keys that were new: for all but a Filter and a CuckooFilter.
    template <class K = R, class = std::enable_if_t<tells_new<K>>>
    auto insert_hashes(Span<const uint64_t> hashes, Bitmap &is_new) {
        return is_new.fill(hashes.size(), C<K>::insert_hashes, this->get(), hashes.data(), hashes.size());
    }
    template <class K = R, class = std::enable_if_t<tells_new<K>>>
    auto insert_keys(Span<const bloomline_bytes> keys, Bitmap &is_new) {
        return is_new.fill(keys.size(), C<K>::insert_keys, this->get(), keys.data(), keys.size());
    }
    /// Inserts a range of what Bytes can be made of, or of integers of 64 bits. Its keys may be
    /// temporaries: of std::ranges views, std::istream_iterator. Returns the last Status that is not
    /// BLOOMLINE_OK. Stops at BLOOMLINE_ERR_FULL: key_count() tells where.
    template <class It, class End, class = Loop<It, End>>
    auto insert(It first, End last) {
        const uint64_t seed = static_cast<const Self &>(*this).seed();
        return insert_blocks(std::move(first), std::move(last), seed,
                             [this](Span<const uint64_t> block) { return insert_hashes(block); });
    }
    template <class Range>
    auto insert_range(Range &&keys) {
        using std::begin, std::end;
        return insert(begin(keys), end(keys));
    }
    /// Removes all keys. Size and seed stay. A ScalableFilter keeps its first stage only, a Window its time slice.
    void clear() noexcept { C<R>::clear(this->get()); }
    /// The seed of the hashes that it takes: hash(key, filter.seed()).
    [[nodiscard]] uint64_t seed() const noexcept { return static_cast<const Self &>(*this).params()->seed; }
};

/// Writes to the Out of context_of() what a function of C has to write.
template <class Out>
bool write_part(void *context, const void *data, size_t len) noexcept {
    auto &writer = *static_cast<std::remove_reference_t<Out> *>(context);
    if constexpr (std::is_invocable_r_v<bool, Out &, const void *, size_t>) {
        return writer(data, len);
    } else {
        return bool(writer.write(static_cast<const char *>(data), static_cast<std::ptrdiff_t>(len)));
    }
}
template <class Out>
void *context_of(Out &out) noexcept {
    return const_cast<void *>(static_cast<const void *>(std::addressof(out)));
}

/// Copies, bytes and files; and inserts, where there are any.
template <class Self, class R, class Base = Inserts<Self, R>>
class Saved : public Base {
public:
    using Base::Base;
    /// Returns a copy: copying is never implicit.
    Result<Self> clone() const noexcept { return made<Self, R *>(C<R>::clone, this->get()); }
    /// How many bytes encode() writes. Of a GrowingFilter that has changed, SIZE_MAX if there is no memory to
    /// find out.
    [[nodiscard]] size_t encoded_len() const noexcept { return C<R>::encoded_len(this->get()); }
    /// Writes the filter as bytes, the same on every CPU: docs/FORMAT.md. BLOOMLINE_ERR_BUFFER_TOO_SMALL if
    /// 'cap' is less than encoded_len().
    Status encode(void *out, size_t cap, size_t *written = nullptr) const noexcept {
        return C<R>::encode(this->get(), out, cap, written);
    }
    Result<Buffer> encode() const {
        return bytes_of(encoded_len(), [&](void *out, size_t cap) { return encode(out, cap); });
    }
    /// Writes what encode() does, piece by piece, to a std::ostream, or to a function of
    /// (const void *data, size_t len) that returns false if it fails: then this returns
    /// BLOOMLINE_ERR_IO. An exception out of either ends the program.
    template <class Out>
    Status write_to(Out &&out) const noexcept {
        return C<R>::write(this->get(), write_part<Out>, context_of(out));
    }
    /// Copies a filter of this class out of bytes that encode() or write_to() wrote. Checks all of them;
    /// bytes that are damaged, cut off or of another kind are an error.
    static Result<Self> decode(Bytes data) noexcept { return made<Self, R *>(C<R>::decode, data.data(), data.size()); }

    /// Replaces the file atomically: bloomline_filter_save() says what it keeps, and which errors there are.
    Status save(const Path &path) const noexcept { return C<R>::save(this->get(), path.c_str()); }
    /// Reads such a file into memory, and checks it as decode().
    static Result<Self> load(const Path &path) noexcept { return made<Self, R *>(C<R>::load, path.c_str()); }
};

/// Remove only keys you inserted. Any other removal can delete one, which is then a false negative.
template <class Self, class R>
class Removes : public Saved<Self, R> {
public:
    using Saved<Self, R>::Saved;
    /// Returns BLOOMLINE_ERR_ABSENT if the key is definitely absent.
    Status remove(Bytes key) noexcept { return C<R>::remove(this->get(), key.data(), key.size()); }
    Status remove_u64(uint64_t key) noexcept { return remove(IntegerKey(key)); }
    Status remove_hash(uint64_t hash) noexcept { return C<R>::remove_hash(this->get(), hash); }
    /// Returns how many keys were removed; sets their bits. The others are definitely absent.
    size_t remove_hashes(Span<const uint64_t> hashes, Bitmap &removed) {
        return removed.fill(hashes.size(), C<R>::remove_hashes, this->get(), hashes.data(), hashes.size());
    }
    size_t remove_keys(Span<const bloomline_bytes> keys, Bitmap &removed) {
        return removed.fill(keys.size(), C<R>::remove_keys, this->get(), keys.data(), keys.size());
    }
};
} // namespace detail

// ---- sizes and seeds --------------------------------------------------------------------------
/// The smallest filter for 'keys' keys at a false-positive rate of 'rate', between 0 and 1: 0.01 is 1 %, and
/// takes 9.9 bits per key. If an attacker can choose keys, take the seed from random_seed().
inline Result<Params> params_for_rate(uint64_t keys, double rate, uint64_t seed = 0) noexcept {
    return detail::seeded<Params>(bloomline_params_for_rate, keys, rate, seed);
}
/// The same in at most so many bytes of lines, or one line: then expected_rate() may be higher.
inline Result<Params> params_for_rate_within(uint64_t keys, double rate, size_t bytes, uint64_t seed = 0) noexcept {
    Result<Params> params = detail::made<Params>(bloomline_params_for_rate_within, keys, rate, bytes);
    params->seed = seed;
    return params;
}
/// A filter of so many bits for each key, which may be a fraction, at the lowest rate that they allow.
inline Result<Params> params_for_bits(uint64_t keys, double bits_per_key, uint64_t seed = 0) noexcept {
    return detail::seeded<Params>(bloomline_params_for_bits, keys, bits_per_key, seed);
}
/// For a standard Bloom filter, the bits of a key anywhere: see bloomline_classic_params_for_rate().
inline Result<Params> classic_params_for_rate(uint64_t keys, double rate, uint64_t seed = 0) noexcept {
    return detail::seeded<Params>(bloomline_classic_params_for_rate, keys, rate, seed);
}
inline Result<Params> classic_params_for_bits(uint64_t keys, double bits_per_key, uint64_t seed = 0) noexcept {
    return detail::seeded<Params>(bloomline_classic_params_for_bits, keys, bits_per_key, seed);
}
/// The smallest cuckoo filter for 'keys' keys at a rate of at most 'rate', 0.000116 or more.
inline Result<CuckooParams> cuckoo_params_for_rate(uint64_t keys, double rate, uint64_t seed = 0) noexcept {
    return detail::seeded<CuckooParams>(bloomline_cuckoo_params_for_rate, keys, rate, seed);
}
/// Returns the false-positive rate to expect with so many keys, 0 to 1; 1 if the parameters are out of range.
[[nodiscard]] inline double expected_rate(const Params &params, uint64_t keys) noexcept {
    return bloomline_params_rate(&params, keys);
}
[[nodiscard]] inline double expected_rate(const CuckooParams &params, uint64_t keys) noexcept {
    return bloomline_cuckoo_params_rate(&params, keys);
}

/// Returns a seed from the operating system, for a filter whose keys an attacker may choose:
/// bloomline_random_seed() says what it stops.
inline Result<uint64_t> random_seed() noexcept { return detail::made<uint64_t>(bloomline_random_seed); }
/// The same parameters, Params or CuckooParams or a Result of them, with such a seed.
template <class P>
auto with_random_seed(const P &params) noexcept {
    Result seeded(params);
    Status status = seeded ? bloomline_random_seed(&seeded->seed) : seeded.code();
    return status ? seeded : status;
}
/// The line count rounded up so that fold() can halve the filter 'folds' times.
inline Result<Params> foldable(Result<Params> params, uint32_t folds) noexcept {
    if (!params) return params;
    Status status = bloomline_params_foldable(&*params, folds);
    return status ? params : status;
}

/// The parameters of a filter that can be a column of a Matrix of 'shape': bloomline_params_foldable_to().
inline Result<Params> foldable_to(Result<Params> params, const Params &shape) noexcept {
    if (!params) return params;
    Status status = bloomline_params_foldable_to(&*params, &shape);
    return status ? params : status;
}

// ---- views ------------------------------------------------------------------------------------
/// What encoded bytes or a file hold.
enum class Kind : int32_t {
    none = 0, filter = BLOOMLINE_KIND_FILTER, classic = BLOOMLINE_KIND_CLASSIC,
    counting = BLOOMLINE_KIND_COUNTING, cuckoo = BLOOMLINE_KIND_CUCKOO,
    scalable = BLOOMLINE_KIND_SCALABLE, window = BLOOMLINE_KIND_WINDOW,
    fixed = BLOOMLINE_KIND_STATIC, cascade = BLOOMLINE_KIND_CASCADE, matrix = BLOOMLINE_KIND_MATRIX,
    growing = BLOOMLINE_KIND_GROWING,
};
/// Returns the kind without opening the bytes: it looks at their last 64.
[[nodiscard]] inline Kind kind_of(Bytes data) noexcept {
    return static_cast<Kind>(bloomline_encoded_kind(data.data(), data.size()));
}

/// A filter in caller-owned bytes, which must stay unchanged where they are while it is used. Owns
/// nothing; copy it freely. A default-constructed one says that every key may be present.
class View : public detail::Views<View> {
public:
    View() noexcept : view_{} {}
    explicit View(const bloomline_view &view) noexcept : view_(view) {}

    /// Opens an encoded filter of any kind but scalable, window, growing, cascade and matrix. Checks all
    /// bytes, checksums included, and reads them from end to end.
    static Result<View> open(Bytes data) noexcept { return made(data, 0); }
    /// Checks the last 64 bytes only, for bytes that something else verifies: if they are damaged, an
    /// inserted key can be a false negative. To open and probe takes several times as long as to probe.
    static Result<View> open_unverified(Bytes data) noexcept { return made(data, BLOOMLINE_VIEW_UNVERIFIED); }
    /// Opens a filter block of RocksDB or Pebble, of any version, and a filter of LevelDB or
    /// goleveldb. Cheap enough to be done before each probe.
    static Result<View> open_rocksdb(Bytes block) noexcept { return of_engine(BLOOMLINE_ENGINE_ROCKSDB, block); }
    static Result<View> open_leveldb(Bytes block) noexcept { return of_engine(BLOOMLINE_ENGINE_LEVELDB, block); }
    /// Opens a filter of a Parquet file, header included, and its bits alone: see Parquet.
    static Result<View> open_parquet(Bytes block) noexcept { return of_engine(BLOOMLINE_ENGINE_PARQUET, block); }
    static Result<View> open_parquet_bits(Bytes bits) noexcept {
        return detail::made<View, bloomline_view>(bloomline_view_open_parquet_bits, bits.data(), bits.size());
    }
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open_unverified(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open_rocksdb(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open_leveldb(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open_parquet(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<View> open_parquet_bits(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");

    /// Line count, fingerprint bits and seed of a cuckoo filter; BLOOMLINE_ERR_LAYOUT for others.
    Result<CuckooParams> cuckoo_params() const noexcept {
        const Result<Params> shape = detail::made<Params>(bloomline_view_shape, &view_);
        if (!shape) return shape.status();
        if (shape->layout != BLOOMLINE_KIND_CUCKOO) return Status(BLOOMLINE_ERR_LAYOUT);
        return CuckooParams{shape->line_count, shape->k, 0, shape->seed};
    }
    /// A function that answers contains() for this view and its copies without the checks of each call:
    /// bloomline_view_contains_fn(). Call it as fn(&view.get(), key, len).
    [[nodiscard]] bloomline_contains_fn contains_fn() const noexcept { return bloomline_view_contains_fn(&view_); }
    /// The lines of the filter, 64 bytes each; empty for kinds of several parts, and for one not opened.
    [[nodiscard]] Bytes lines() const noexcept {
        size_t len = 0;
        const void *lines = bloomline_view_lines(&view_, &len);
        return {lines, len};
    }
    [[nodiscard]] const bloomline_view &get() const noexcept { return view_; }
private:
    static Result<View> made(Bytes data, uint32_t flags) noexcept {
        return detail::made<View, bloomline_view>(bloomline_view_open, data.data(), data.size(), flags);
    }
    static Result<View> of_engine(uint32_t engine, Bytes block) noexcept {
        return detail::made<View, bloomline_view>(bloomline_view_open_engine, engine, block.data(), block.size());
    }
    bloomline_view view_;
};

static_assert(sizeof(View) == sizeof(bloomline_view) && std::is_standard_layout_v<View>,
              "an array of View is an array of bloomline_view");

/// Probes and inserts by hash without a call: see bloomline_inline.h. Make it of a view once, before
/// a loop. The view and its bytes must stay, and no other thread may insert meanwhile.
class Inline {
public:
    BLOOMLINE_INLINE_METHOD_ explicit Inline(const View &view) noexcept : inline_(bloomline_inline_of(&view.get())) {}
    explicit Inline(View &&) BLOOMLINE_DELETED("the view is a temporary: name it first");
    /// Returns false if the key of the hash is definitely absent, true if it may be present.
    [[nodiscard]] BLOOMLINE_INLINE_METHOD_ bool contains_hash(uint64_t hash) const noexcept {
        return bloomline_inline_contains_hash(inline_, hash);
    }
    /// Asks for the line of a hash, to be probed soon.
    BLOOMLINE_INLINE_METHOD_ void prefetch_hash(uint64_t hash) const noexcept {
        bloomline_inline_prefetch_hash(inline_, hash);
    }
    /// Inserts into the lines of the view, which the caller may write. Returns false if it cannot.
    [[nodiscard]] BLOOMLINE_INLINE_METHOD_ bool insert_hash(uint64_t hash) const noexcept {
        return bloomline_inline_insert_hash(inline_, hash);
    }
private:
    bloomline_inline inline_;
};
/// Probes many filters for one key; prefetches as bloomline_views_contain_hash() does. Returns how
/// many may have it; bit i of 'out' is for view i. If the filters hash keys differently, with other
/// seeds or as other engines do, all may have it: see views_contain().
inline size_t views_contain_hash(Span<const View> views, uint64_t hash, Bitmap &out) {
    return out.fill(views.size(), bloomline_views_contain_hash, detail::raw(views), views.size(), hash);
}
/// views_contain_hash() for a key, which the filters may hash differently.
inline size_t views_contain(Span<const View> views, Bytes key, Bitmap &out) {
    return out.fill(views.size(), bloomline_views_contain, detail::raw(views), views.size(), key.data(), key.size());
}
/// The same for views that lie anywhere, by pointers to them; a null pointer may have the key.
inline size_t views_contain_hash_each(Span<const View *const> views, uint64_t hash, Bitmap &out) {
    return out.fill(views.size(), bloomline_views_contain_hash_each, detail::raw(views), views.size(), hash);
}
inline size_t views_contain_each(Span<const View *const> views, Bytes key, Bitmap &out) {
    return out.fill(views.size(), bloomline_views_contain_each, detail::raw(views), views.size(), key.data(),
                    key.size());
}
/// Many filters, prepared once to be probed together: see bloomline_group. An empty handle may have any key: its
/// functions return SIZE_MAX, and contains_pairs() sets all bits.
class Group : public detail::Handle<bloomline_group> {
public:
    using Handle::Handle;
    /// Copies the views. The filters that they are of must stay as long as the group is used.
    static Result<Group> create(Span<const View> views) noexcept {
        return detail::made<Group, Raw *>(bloomline_group_new, detail::raw(views), views.size());
    }
    /// How many filters it has.
    [[nodiscard]] size_t view_count() const noexcept { return bloomline_group_view_count(get()); }
    /// Returns how many filters may have the key; bit i of 'out' is for view i.
    size_t contains(Bytes key, Bitmap &out) const {
        return out.fill(view_count(), bloomline_group_contains, get(), key.data(), key.size());
    }
    size_t contains_u64(uint64_t key, Bitmap &out) const { return contains(IntegerKey(key), out); }
    /// The same by a hash. If the filters hash keys differently, all may have it.
    size_t contains_hash(uint64_t hash, Bitmap &out) const {
        return out.fill(view_count(), bloomline_group_contains_hash, get(), hash);
    }
    /// The same for many: the bit of view i for hashes[j] is out[j * stride + i], where stride is
    /// view_count() rounded up to a multiple of 64.
    size_t contains_hashes(Span<const uint64_t> hashes, Bitmap &out) const {
        return out.fill_rows(view_count(), hashes.size(), bloomline_group_contains_hashes, get(), hashes.data(),
                             hashes.size());
    }
    /// The same filter by filter, for many keys: the bit of hashes[j] for view i is out[i * stride + j],
    /// where stride is hashes.size() rounded up to a multiple of 64.
    size_t contains_hashes_by_member(Span<const uint64_t> hashes, Bitmap &out) const {
        return out.fill_rows(hashes.size(), view_count(), bloomline_group_contains_hashes_by_member, get(),
                             hashes.data(), hashes.size());
    }
    /// Returns how many filters may have any of these keys; bit i of 'out' is for view i.
    size_t contains_any_hash(Span<const uint64_t> hashes, Bitmap &out) const {
        return out.fill(view_count(), bloomline_group_contains_any_hash, get(), hashes.data(), hashes.size());
    }
    /// Probes filter members[i] for hashes[i]; bit i of 'out' is for that. If there is no such filter,
    /// the key may be present. If there are fewer members than hashes, all keys may.
    size_t contains_pairs(Span<const uint32_t> members, Span<const uint64_t> hashes, Bitmap &out) const {
        const uint32_t *const numbers = members.size() < hashes.size() ? nullptr : members.data();
        return out.fill(hashes.size(), bloomline_group_contains_pairs, get(), numbers, hashes.data(), hashes.size());
    }
    /// The same for the rows of a column: those that may be present, as select_hashes() writes them for one filter.
    template <class Rows>
    size_t select_pairs(Span<const uint32_t> members, Span<const uint64_t> hashes, Rows &rows) const {
        const auto select = detail::of_rows<Rows>(bloomline_group_select_pairs, bloomline_group_select16_pairs);
        const uint32_t *const numbers = members.size() < hashes.size() ? nullptr : members.data();
        return detail::fill_rows(rows, hashes.size(), select, get(), numbers, hashes.data());
    }
    /// Keeps those rows of a selection that may be present, in their order, and returns how many they are. That both
    /// arrays have the rows is the caller's promise.
    template <class Rows>
    size_t refine_pairs(Span<const uint32_t> members, Span<const uint64_t> hashes, Rows &rows) const {
        const auto refine = detail::of_rows<Rows>(bloomline_group_refine_pairs, bloomline_group_refine16_pairs);
        const uint32_t *const numbers = members.size() < hashes.size() ? nullptr : members.data();
        rows.resize(refine(get(), numbers, hashes.data(), rows.data(), rows.size()));
        return rows.size();
    }
};
/// Probes for each hash the filter of its shard, all in one call: views[i] is shard i. The shard
/// of a hash is shard_of(hash, views.size()). Returns how many keys may be present: all, if the
/// filters hash keys differently.
inline size_t shards_contain_hashes(Span<const View> views, Span<const uint64_t> hashes, Bitmap &out) {
    return out.fill(hashes.size(), bloomline_shards_contain_hashes, detail::raw(views), views.size(), hashes.data(),
                    hashes.size());
}
/// Returns which of 'shards' shards has the key of a hash, 0 to shards - 1; 0 for 0 shards.
[[nodiscard]] inline uint64_t shard_of(uint64_t hash, uint64_t shards) noexcept {
    return bloomline_shard_of(hash, shards);
}

// ---- filters ----------------------------------------------------------------------------------
/// A filter in memory: start here. Sized once, for a number of keys that it may exceed at a higher
/// false-positive rate. One key costs one cache line.
class Filter : public detail::Saved<Filter, bloomline_filter>,
               public detail::Views<Filter, bloomline_filter> {
public:
    using Saved::Saved;
    static Result<Filter> create(const Result<Params> &params) noexcept {
        return detail::created<Filter>(bloomline_filter_new, params);
    }

    /// Inserts on up to 'threads' threads; 0: on as many as there are CPUs. The bytes are the same.
    void insert_hashes_parallel(Span<const uint64_t> hashes, size_t threads) noexcept {
        bloomline_filter_insert_hashes_parallel(get(), hashes.data(), hashes.size(), threads);
    }
    void insert_keys_parallel(Span<const bloomline_bytes> keys, size_t threads) noexcept {
        bloomline_filter_insert_keys_parallel(get(), keys.data(), keys.size(), threads);
    }
    /// Sets the bits of the keys that were new: the same for any number of threads.
    size_t insert_new_hashes(Span<const uint64_t> hashes, Bitmap &is_new, size_t threads = 1) {
        return is_new.fill(hashes.size(), bloomline_filter_insert_new_hashes, get(), hashes.data(), hashes.size(), threads);
    }
    size_t insert_new_keys(Span<const bloomline_bytes> keys, Bitmap &is_new, size_t threads = 1) {
        return is_new.fill(keys.size(), bloomline_filter_insert_new_keys, get(), keys.data(), keys.size(), threads);
    }
    /// Adds all keys of another filter of the same size, k, seed and type.
    Status merge(const Filter &from) noexcept { return bloomline_filter_union(get(), from.get()); }
    Status operator|=(const Filter &from) noexcept { return merge(from); }
    /// Keeps what both filters have. key_count() is 0 then, which means unknown.
    Status intersect(const Filter &from) noexcept { return bloomline_filter_intersect(get(), from.get()); }
    Status operator&=(const Filter &from) noexcept { return intersect(from); }
    /// Halves the number of lines and keeps all keys: the false-positive rate rises. foldable() makes
    /// parameters whose line count stays even. Views of the filter are invalid afterwards.
    Status fold() noexcept { return bloomline_filter_fold(get()); }
    /// Folds while the false-positive rate stays at 'rate' or below. Returns how many times it folded.
    Result<uint32_t> fold_to_rate(double rate) noexcept {
        return detail::made<uint32_t>(bloomline_filter_fold_to_rate, get(), rate);
    }
};

/// A filter that keys can be removed from, and that can become full: see bloomline_cuckoo.
class CuckooFilter : public detail::Removes<CuckooFilter, bloomline_cuckoo>, public detail::Views<CuckooFilter> {
public:
    using Removes::Removes;
    static Result<CuckooFilter> create(const Result<CuckooParams> &params) noexcept {
        return detail::created<CuckooFilter>(bloomline_cuckoo_new, params);
    }
    Result<CuckooParams> params() const noexcept { return View(viewed().view).cuckoo_params(); }
    /// How many slots there are, of which about 95 % can be used.
    [[nodiscard]] uint64_t capacity() const noexcept {
        const Result<CuckooParams> made = params();
        return made ? made->line_count * (64 / made->fingerprint_bits * 8) : 0;
    }
};

/// A filter that any number of threads insert into and probe at once; none waits for another. All
/// but clear(), moving, release() and destruction may be called at the same time, as with std::atomic. A
/// view() sees later inserts; for more than probes, fill() and estimated_keys() take a snapshot(). Copies,
/// bytes and files have all keys that are present at the call.
class ConcurrentFilter : public detail::Saved<ConcurrentFilter, bloomline_concurrent>,
                         public detail::Views<ConcurrentFilter> {
public:
    using Saved::Saved;
    static Result<ConcurrentFilter> create(const Result<Params> &params) noexcept {
        auto filter = Filter::create(params);
        if (!filter) return Status(filter.code());
        return from(std::move(*filter));
    }
    /// The same keys in the same memory: 'filter' is empty afterwards.
    static Result<ConcurrentFilter> from(Filter &&filter) noexcept {
        bloomline_filter *given = filter.release();
        auto made = detail::made<ConcurrentFilter, Raw *>(bloomline_concurrent_new, &given);
        filter = Filter(given);
        return made;
    }

    /// Adds all keys of a filter of the same size, k, seed and type.
    Status merge(const Filter &from) noexcept { return bloomline_concurrent_union(get(), from.get()); }
    Status operator|=(const Filter &from) noexcept { return merge(from); }
    /// Returns a copy as a plain filter, with all keys that are present.
    Result<Filter> snapshot() const noexcept {
        return detail::made<Filter, bloomline_filter *>(bloomline_concurrent_snapshot, get());
    }
    uint64_t key_count() const BLOOMLINE_DELETED("it keeps none: see estimated_keys()");
    double estimated_rate() const BLOOMLINE_DELETED("other threads may insert: ask a snapshot()");
    double worst_line_rate() const BLOOMLINE_DELETED("other threads may insert: ask a snapshot()");
};

/// A filter that any number of threads insert columns into, and that nobody can probe before finish(): see
/// bloomline_concurrent_builder. Rows that are null have no key.
class ConcurrentBuilder : public detail::Handle<bloomline_concurrent_builder> {
public:
    using Handle::Handle;
    static Result<ConcurrentBuilder> create(const Result<Params> &params) noexcept {
        return detail::created<ConcurrentBuilder>(bloomline_concurrent_builder_new, params);
    }

    /// Any number of threads may call these. BLOOMLINE_ERR_TRUNCATED if the validity has too few bits, or the data
    /// too few bytes for the last offset; bloomline_concurrent_builder_insert() says what else is refused.
    Status insert_column(const Column &column) const noexcept {
        if (!column.status()) return column.status();
        return bloomline_concurrent_builder_insert(get(), column.get(), 1);
    }
    Status insert_hashes(Span<const uint64_t> hashes, const Validity &validity = {}) const noexcept {
        return insert_column(Column::hashes(hashes, validity));
    }
    Status insert_u64(Integers<uint64_t> values, const Validity &validity = {}) const noexcept {
        return insert_column(Column::u64(values, validity));
    }
    Status insert_u32(Integers<uint32_t> values, const Validity &validity = {}) const noexcept {
        return insert_column(Column::u32(values, validity));
    }
    Status insert_strings(Span<const int32_t> offsets, Bytes data, const Validity &validity = {}) const noexcept {
        return insert_column(Column::strings(offsets, data, validity));
    }
    Status insert_strings(Span<const int64_t> offsets, Bytes data, const Validity &validity = {}) const noexcept {
        return insert_column(Column::strings(offsets, data, validity));
    }
    /// Adds all keys of a filter of the same size, k, seed and type.
    Status merge(const Filter &from) const noexcept { return bloomline_concurrent_builder_union(get(), from.get()); }
    /// How many keys were inserted, repeated ones counted each time, nulls not.
    [[nodiscard]] uint64_t key_count() const noexcept { return bloomline_concurrent_builder_key_count(get()); }

    /// Returns the filter, in the same memory: std::move(builder).finish(). If it fails, the builder is unchanged.
    Result<Filter> finish() && noexcept {
        return finished([](Raw **raw, bloomline_filter **out) { return bloomline_concurrent_builder_finish(raw, out); });
    }
    /// The same, folded as far as its false-positive rate stays at 'rate' or below. Empty if the rate is above
    /// 'most': then the filter is not worth its probes, and says that every key may be present.
    Result<Filter> finish_to_rate(double rate, double most) && noexcept {
        return finished([=](Raw **raw, bloomline_filter **out) {
            return bloomline_concurrent_builder_finish_to_rate(raw, rate, most, out);
        });
    }
private:
    template <class Finish>
    Result<Filter> finished(Finish finish) noexcept {
        Raw *given = release();
        auto made = detail::made<Filter, bloomline_filter *>(finish, &given);
        *this = ConcurrentBuilder(given);
        return made;
    }
};

/// The filter of a Swap when snapshot() was called. Any thread may use and free it.
class Snapshot : public detail::Handle<const bloomline_filter>,
                 public detail::Views<Snapshot, bloomline_filter> {
public:
    using Handle::Handle;
};

/// A filter that is replaced while threads read it: see bloomline_swap.
class Swap : public detail::Handle<bloomline_swap> {
public:
    using Handle::Handle;
    /// 'first' is empty afterwards; if this fails, it is unchanged.
    static Result<Swap> create(Filter &&first) noexcept {
        bloomline_filter *given = first.release();
        auto made = detail::made<Swap, Raw *>(bloomline_swap_new, &given);
        first = Filter(given);
        return made;
    }
    /// Replaces the filter atomically. 'next' is empty afterwards; if this fails, it is unchanged.
    Status publish(Filter &&next) const noexcept {
        bloomline_filter *given = next.release();
        Status status = bloomline_swap_publish(get(), &given);
        next = Filter(given);
        return status;
    }
    /// Returns the filter that is there now, to be probed: swap.snapshot().contains(key).
    [[nodiscard]] Snapshot snapshot() const noexcept { return Snapshot(bloomline_swap_acquire(get())); }
};

/// A filter that keys can be removed from. It takes five times the memory of a Filter. Remove only
/// keys you inserted: bloomline_counting in bloomline.h says what happens otherwise.
class CountingFilter : public detail::Removes<CountingFilter, bloomline_counting>,
                       public detail::Views<CountingFilter> {
public:
    using Removes::Removes;
    static Result<CountingFilter> create(const Result<Params> &params) noexcept {
        return detail::created<CountingFilter>(bloomline_counting_new, params);
    }
    /// Returns how often the key was inserted, at most; BLOOMLINE_COUNTING_MOST: so often or more.
    [[nodiscard]] uint32_t count(Bytes key) const noexcept {
        return count_hash(hash(key));
    }
    [[nodiscard]] uint32_t count_u64(uint64_t key) const noexcept { return count(IntegerKey(key)); }
    [[nodiscard]] uint32_t count_hash(uint64_t hash) const noexcept {
        return bloomline_counting_count_hash(get(), hash);
    }
    /// Adds all keys of another filter of the same size, k and seed, each as often as it is there.
    Status merge(const CountingFilter &from) noexcept { return bloomline_counting_union(get(), from.get()); }
    Status operator|=(const CountingFilter &from) noexcept { return merge(from); }
    /// Returns a copy as a plain filter.
    Result<Filter> to_filter() const noexcept {
        return detail::made<Filter, bloomline_filter *>(bloomline_filter_clone, bloomline_counting_filter(get()));
    }
};

/// A filter that grows with its keys, for an unknown number of them. Inserts return
/// BLOOMLINE_ERR_OUT_OF_MEMORY where it should grow and cannot: the keys are inserted, but the
/// false-positive rate may exceed the target. GrowingFilter::unbounded() takes less memory once it has
/// grown, and can remove keys, but its inserts take several times as long.
class ScalableFilter : public detail::Saved<ScalableFilter, bloomline_scalable>,
                       public detail::Views<ScalableFilter> {
public:
    using Saved::Saved;
    /// Its first stage is sized for 'first_keys' keys; all stages together stay below 'rate'.
    static Result<ScalableFilter> create(uint64_t first_keys, double rate, uint64_t seed = 0) noexcept {
        return detail::made<ScalableFilter, Raw *>(bloomline_scalable_new, first_keys, rate, seed);
    }
    /// Stages, rates and seed. An empty handle has none, and reports every key as present.
    [[nodiscard]] ScalableFacts about() const noexcept {
        ScalableFacts facts{};
        facts.expected_rate = 1;
        (void)bloomline_scalable_about(get(), &facts);
        return facts;
    }
    [[nodiscard]] uint64_t seed() const noexcept { return about().seed; }
};

/// A filter that grows and shrinks with its keys, which can be removed, counted and merged. Prefixes of
/// their hashes can be listed.
/// Remove only keys you inserted: bloomline_growing in bloomline.h says what happens otherwise.
class GrowingFilter : public detail::Removes<GrowingFilter, bloomline_growing>,
                      public detail::Views<GrowingFilter> {
public:
    using Removes::Removes;
    /// For up to 'most_keys' keys: with so many it has the false-positive rate 'rate', with fewer a lower one.
    static Result<GrowingFilter> create(uint64_t most_keys, double rate, uint64_t seed = 0) noexcept {
        return detail::made<GrowingFilter, Raw *>(bloomline_growing_new, most_keys, rate, seed);
    }
    /// Its rate stays below 'rate', up to 10^16 keys times 'rate'. With fewer than 'first_keys' it takes more memory
    /// per key than later.
    static Result<GrowingFilter> unbounded(uint64_t first_keys, double rate, uint64_t seed = 0) noexcept {
        return detail::made<GrowingFilter, Raw *>(bloomline_growing_new_unbounded, first_keys, rate, seed);
    }
    /// The same filters with keys in them, given by their hashes: smaller, and sooner done than by inserts.
    static Result<GrowingFilter> build(uint64_t most_keys, double rate, Span<const uint64_t> hashes,
                                       uint64_t seed = 0) noexcept {
        return detail::made<GrowingFilter, Raw *>(bloomline_growing_build, most_keys, rate, seed, hashes.data(),
                                                  hashes.size());
    }
    static Result<GrowingFilter> build_unbounded(uint64_t first_keys, double rate, Span<const uint64_t> hashes,
                                                 uint64_t seed = 0) noexcept {
        return detail::made<GrowingFilter, Raw *>(bloomline_growing_build_unbounded, first_keys, rate, seed,
                                                  hashes.data(), hashes.size());
    }
    /// What it was made with. An empty handle reports every key as present.
    [[nodiscard]] GrowingFacts about() const noexcept {
        GrowingFacts facts{};
        (void)bloomline_growing_about(get(), &facts);
        return facts;
    }
    [[nodiscard]] uint64_t seed() const noexcept { return about().seed; }
    /// Returns how often the key is present, at most.
    [[nodiscard]] uint64_t count(Bytes key) const noexcept { return count_hash(hash(key)); }
    [[nodiscard]] uint64_t count_u64(uint64_t key) const noexcept { return count(IntegerKey(key)); }
    [[nodiscard]] uint64_t count_hash(uint64_t hash) const noexcept {
        return bloomline_growing_count_hash(get(), hash);
    }
    /// Inserts on up to 'threads' threads; 0: on as many as there are CPUs. Prefixes and answers are the same for
    /// any number: see bloomline_growing_insert_hashes_parallel().
    Status insert_hashes_parallel(Span<const uint64_t> hashes, size_t threads) noexcept {
        return bloomline_growing_insert_hashes_parallel(get(), hashes.data(), hashes.size(), threads, nullptr);
    }
    Status insert_keys_parallel(Span<const bloomline_bytes> keys, size_t threads) noexcept {
        return bloomline_growing_insert_keys_parallel(get(), keys.data(), keys.size(), threads, nullptr);
    }
    /// Sets the bits of the keys that were new, too.
    Status insert_hashes_parallel(Span<const uint64_t> hashes, Bitmap &is_new, size_t threads) {
        return in_parallel(bloomline_growing_insert_hashes_parallel, hashes, is_new, threads);
    }
    Status insert_keys_parallel(Span<const bloomline_bytes> keys, Bitmap &is_new, size_t threads) {
        return in_parallel(bloomline_growing_insert_keys_parallel, keys, is_new, threads);
    }
    /// Adds the keys of another filter that was made with the same numbers and seed, each as often as it is
    /// there.
    Status merge(const GrowingFilter &from) noexcept { return bloomline_growing_union(get(), from.get()); }
    Status operator|=(const GrowingFilter &from) noexcept { return merge(from); }
    /// Keeps the keys that may be in both.
    Status intersect(const GrowingFilter &with) noexcept { return bloomline_growing_intersect(get(), with.get()); }
    Status operator&=(const GrowingFilter &with) noexcept { return intersect(with); }
    /// Removes the keys of another filter, all of which this one must have; BLOOMLINE_ERR_UNBOUNDED if the
    /// filters are unbounded.
    Status difference(const GrowingFilter &from) noexcept { return bloomline_growing_difference(get(), from.get()); }
    /// A filter for each range of hashes: hash h goes to h * parts / 2^64.
    Result<std::vector<GrowingFilter>> split(size_t parts) const {
        std::vector<Raw *> raw(parts);
        std::vector<GrowingFilter> filters;
        filters.reserve(parts);
        Status status = bloomline_growing_split(get(), parts, raw.data());
        if (!status) return status;
        for (Raw *part : raw) filters.emplace_back(part);
        return filters;
    }
    /// Writes up to 'cap' prefixes from 'first' on to 'prefixes', and to 'counts' how often each is there,
    /// unless that is NULL. Returns how many it wrote. To list all, begin with 0 and go on from the last
    /// prefix plus 1 until it returns less than 'cap'. Each call reads the filter from its start.
    size_t prefixes(uint64_t first, uint64_t *prefixes, uint64_t *counts, size_t cap) const noexcept {
        return bloomline_growing_prefixes(get(), first, prefixes, counts, cap);
    }
    /// A static filter of the prefixes, for a View. Probe it by frozen_hash(), not by the key's own hash.
    Result<Buffer> freeze(double rate) const {
        auto write = [&](void *out, size_t cap, size_t *written) {
            return Status(bloomline_growing_freeze(get(), rate, out, cap, written));
        };
        // As many as there are prefixes: keys that repeat have one.
        return detail::some_of(bloomline_static_block_len(size_t(estimated_keys()), rate), write);
    }
    /// 'prefix_count' is that of about(): keep it beside the static filter.
    [[nodiscard]] static uint64_t frozen_hash(uint64_t prefix_count, uint64_t hash) noexcept {
        return bloomline_growing_frozen_hash(prefix_count, hash);
    }
    /// Writes the whole filter as the first record of a journal, to what write_to() takes. 'sequence' is a
    /// number of yours. A Journal does this in a file.
    template <class Out>
    Status save_whole(Out &&out, uint64_t sequence) noexcept {
        return bloomline_growing_save_whole(get(), detail::write_part<Out>, detail::context_of(out), sequence);
    }
    /// Writes what changed since the last record: see bloomline_growing_save_changed().
    template <class Out>
    Status save_changed(Out &&out, uint64_t sequence) noexcept {
        return bloomline_growing_save_changed(get(), detail::write_part<Out>, detail::context_of(out), sequence);
    }
    struct Replayed;
    /// The filter at the last whole record of a journal.
    static Result<Replayed> replay(Bytes journal) noexcept;
    /// The patch that brings a filter of the record 'sequence' up to date with the journal: the end of the journal's
    /// bytes.
    static Result<Bytes> patch_since(Bytes journal, uint64_t sequence) noexcept {
        size_t start = 0;
        Status status = bloomline_growing_patch_since(journal.data(), journal.size(), sequence, &start);
        if (!status) return status;
        return Bytes(static_cast<const uint8_t *>(journal.data()) + start, journal.size() - start);
    }
    template <class J, class = std::enable_if_t<detail::owning_temporary<J>>>
    static Result<Bytes> patch_since(J &&, uint64_t) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    /// Applies such a patch, and returns the sequence number that the filter then has: see
    /// bloomline_growing_apply_patch().
    Result<uint64_t> apply_patch(Bytes patch) noexcept {
        return detail::made<uint64_t>(bloomline_growing_apply_patch, get(), patch.data(), patch.size());
    }
    /// The sequence number of the record that the filter was last saved, replayed or patched by; none if it does not
    /// know what changed since.
    [[nodiscard]] std::optional<uint64_t> saved_sequence() const noexcept {
        uint64_t sequence = 0;
        if (!bloomline_growing_saved_sequence(get(), &sequence)) return std::nullopt;
        return sequence;
    }

private:
    template <class Insert, class Keys>
    Status in_parallel(Insert call, const Keys &keys, Bitmap &is_new, size_t threads) {
        return is_new.fill(keys.size(), [&](uint64_t *words) {
            return Status(call(get(), keys.data(), keys.size(), threads, words));
        });
    }
};

/// What GrowingFilter::replay() made of a journal. If 'whole_len' is less than its length, its last record was not
/// written to its end: cut it off there before you write to it again.
struct GrowingFilter::Replayed {
    GrowingFilter filter;
    uint64_t sequence = 0;
    size_t whole_len = 0;
};
inline Result<GrowingFilter::Replayed> GrowingFilter::replay(Bytes journal) noexcept {
    Raw *raw = nullptr;
    Replayed replayed;
    Status status =
        bloomline_growing_replay(journal.data(), journal.size(), &raw, &replayed.sequence, &replayed.whole_len);
    replayed.filter = GrowingFilter(raw);
    return status ? Result<Replayed>(std::move(replayed)) : status;
}

/// A GrowingFilter in a file that takes what changes in it, to survive a crash: see bloomline_journal. It does not
/// hold the filter.
class Journal : public detail::Handle<bloomline_journal> {
public:
    using Handle::Handle;
    /// Begins a journal with the whole filter; replaces the file atomically.
    static Result<Journal> create(const Path &path, GrowingFilter &filter, uint64_t sequence) noexcept {
        return detail::made<Journal, Raw *>(bloomline_journal_create, path.c_str(), filter.get(), sequence);
    }
    struct Opened;
    /// Opens a journal: the filter is as it was at the last whole record.
    static Result<Opened> open(const Path &path) noexcept;
    /// Appends what changed, and flushes it to the disk. Then acknowledge 'sequence'.
    Status save_changed(GrowingFilter &filter, uint64_t sequence) noexcept {
        return bloomline_journal_save_changed(get(), filter.get(), sequence);
    }
    /// Replaces the file by one that has the whole filter and no other record.
    Status restart(GrowingFilter &filter, uint64_t sequence) noexcept {
        return bloomline_journal_restart(get(), filter.get(), sequence);
    }
    /// Appends a patch of another filter's journal, of which this one is a copy, flushes it to the disk, and applies
    /// it: see bloomline_journal_apply_patch(). Returns the sequence number that both then have.
    Result<uint64_t> apply_patch(GrowingFilter &filter, Bytes patch) noexcept {
        return detail::made<uint64_t>(
            bloomline_journal_apply_patch, get(), filter.get(), patch.data(), patch.size());
    }
    /// The sequence number of the last record; 0 for an empty handle.
    [[nodiscard]] uint64_t sequence() const noexcept { return bloomline_journal_sequence(get()); }
    /// The bytes of the file: restart() when they are a few times the filter's encoded_len().
    [[nodiscard]] uint64_t file_len() const noexcept { return bloomline_journal_file_len(get()); }
};

/// What Journal::open() opened.
struct Journal::Opened {
    Journal journal;
    GrowingFilter filter;
};
inline Result<Journal::Opened> Journal::open(const Path &path) noexcept {
    Raw *journal = nullptr;
    GrowingFilter::Raw *filter = nullptr;
    Status status = bloomline_journal_open(path.c_str(), &journal, &filter);
    Opened opened{Journal(journal), GrowingFilter(filter)};
    return status ? Result<Opened>(std::move(opened)) : status;
}

/// A sliding-window filter, of the keys of the last generations: see bloomline_window.
class Window : public detail::Saved<Window, bloomline_window>,
               public detail::Views<Window> {
public:
    using Saved::Saved;
    /// While no generation has more than 'keys_per_generation' keys, the false-positive rate over all is at
    /// most 'rate'. Keys expire after 'generations' - 1 whole generations: 8 of a day are "the last 7 days".
    static Result<Window> create(uint32_t generations, uint64_t keys_per_generation, double rate,
                                 uint64_t seed = 0) noexcept {
        return detail::made<Window, Raw *>(bloomline_window_new, generations, keys_per_generation, rate, seed);
    }
    /// Generations, time slice and parameters. An empty handle has none.
    [[nodiscard]] WindowFacts about() const noexcept {
        WindowFacts facts{};
        (void)bloomline_window_about(get(), &facts);
        return facts;
    }
    /// The parameters of each generation.
    Result<Params> params() const noexcept {
        const auto facts = detail::made<WindowFacts>(bloomline_window_about, get());
        return facts ? Result<Params>(facts->params) : Result<Params>(Status(facts.code()));
    }
    /// Begins a new generation, and drops the oldest.
    void rotate() noexcept { bloomline_window_rotate(get()); }
    /// Sets the current time slice, such as the seconds since 1970 divided by 86400; also before the first insert.
    void advance_to(uint64_t slice) noexcept { bloomline_window_advance_to(get(), slice); }
    /// Makes generations of so many keys; 0: only rotate() and advance_to() end one.
    void rotate_after(uint64_t keys) noexcept { bloomline_window_rotate_after(get(), keys); }
    /// How many different keys are in the generation of 'age' rotations ago; 0 is the newest.
    [[nodiscard]] uint64_t key_count(uint32_t age = 0) const noexcept {
        return bloomline_window_key_count(get(), age);
    }
};

/// Exact answers for the keys of two sets that no longer change: see bloomline_cascade. contains() is
/// true for each included key and false for each excluded one.
class Cascade : public detail::Saved<Cascade, bloomline_cascade, detail::Handle<bloomline_cascade>>,
                public detail::Views<Cascade> {
public:
    using Saved::Saved;
    /// Built of the hashes of all keys, in any order. 'rate' is how often a key of neither set may be reported
    /// as included; 0: what makes the smallest cascade. BLOOMLINE_ERR_OVERLAP if a hash is in both sets. On
    /// up to 'threads' threads; 0: on as many as there are CPUs.
    static Result<Cascade> create(Span<const uint64_t> included, Span<const uint64_t> excluded,
                                  double rate = 0, uint64_t seed = 0, size_t threads = 1) noexcept {
        return detail::made<Cascade, Raw *>(bloomline_cascade_new, included.data(), included.size(), excluded.data(),
                                            excluded.size(), rate, seed, threads);
    }
    /// Key counts, size, seed and rate. An empty handle has no keys, and reports every key as included.
    [[nodiscard]] CascadeFacts about() const noexcept {
        CascadeFacts facts{};
        facts.unknown_rate = 1;
        (void)bloomline_cascade_about(get(), &facts);
        return facts;
    }
};

class Matrix;
namespace detail {
/// What has columns. Bit i of an answer is for column i. An empty handle may have any key: its functions return
/// SIZE_MAX, and contains_pairs() sets all bits.
template <class Self>
class Columns {
public:
    /// Parameters and number of the columns; whether they have names and checksums. All zero if empty.
    [[nodiscard]] MatrixShape about() const noexcept {
        MatrixShape shape{};
        (void)bloomline_matrix_about(raw(), &shape);
        return shape;
    }
    [[nodiscard]] size_t columns() const noexcept { return static_cast<size_t>(about().columns); }
    /// Returns how many columns may have the key. If 'among' is not empty, only the columns whose
    /// bit is set in it count. It may be the words() of a Bitmap, also of 'out'. If it has too few
    /// words, all columns count. All functions that take 'among' treat it in this way.
    size_t contains(Bytes key, Bitmap &out, Span<const uint64_t> among = {}) const {
        const Live live(*this, among, out);
        return out.fill(columns(), bloomline_matrix_contains, raw(), key.data(), key.size(), live.words);
    }
    size_t contains_u64(uint64_t key, Bitmap &out, Span<const uint64_t> among = {}) const {
        return contains(IntegerKey(key), out, among);
    }
    size_t contains_hash(uint64_t hash, Bitmap &out, Span<const uint64_t> among = {}) const {
        const Live live(*this, among, out);
        return out.fill(columns(), bloomline_matrix_contains_hash, raw(), hash, live.words);
    }
    /// The bit of column i for hashes[j] is out[j * stride + i], where stride is columns() rounded up to a
    /// multiple of 64.
    size_t contains_hashes(Span<const uint64_t> hashes, Bitmap &out, Span<const uint64_t> among = {}) const {
        const Live live(*this, among, out);
        return out.fill_rows(columns(), hashes.size(), bloomline_matrix_contains_hashes, raw(), hashes.data(),
                             hashes.size(), live.words);
    }
    /// Makes 'pairs' the columns that may have a key, in ascending order: by the number of the key's hash, then by
    /// column. Reuse it: the next batch need not allocate. After an error every column may have every key.
    Status select_hashes(Span<const uint64_t> hashes, std::vector<MatrixPair> &pairs,
                         Span<const uint64_t> among = {}) const {
        const uint64_t *const some = live(among);
        size_t count = 0;
        MatrixPair from{};
        Status status;
        do {
            const size_t fewest = count != 0 ? 2 * count : hashes.size() < 64 ? 64 : hashes.size();
            if (count == 0 || pairs.size() < fewest) pairs.resize(fewest);
            size_t written = 0;
            status = bloomline_matrix_select_hashes(raw(), hashes.data(), hashes.size(), some, &from, pairs.data() + count,
                                                    pairs.size() - count, &written);
            count += written;
        } while (status && from.key < hashes.size());
        pairs.resize(status ? count : 0);
        return status;
    }
    size_t contains_keys(Span<const bloomline_bytes> keys, Bitmap &out, Span<const uint64_t> among = {}) const {
        const Live live(*this, among, out);
        return out.fill_rows(columns(), keys.size(), bloomline_matrix_contains_keys, raw(), keys.data(), keys.size(),
                             live.words);
    }
    /// Probes column numbers[i] for hashes[i]; bit i of 'out' is for that. If there is no such column, the
    /// key may be present. If there are fewer numbers than hashes, all keys may.
    size_t contains_pairs(Span<const uint32_t> numbers, Span<const uint64_t> hashes, Bitmap &out) const {
        const uint32_t *const all = numbers.size() < hashes.size() ? nullptr : numbers.data();
        return out.fill(hashes.size(), bloomline_matrix_contains_pairs, raw(), all, hashes.data(), hashes.size());
    }
    /// How many columns may have the key of a hash; whether one may.
    [[nodiscard]] size_t count_hash(uint64_t hash, Span<const uint64_t> among = {}) const noexcept {
        return bloomline_matrix_count_hash(raw(), hash, live(among));
    }
    [[nodiscard]] bool any_hash(uint64_t hash, Span<const uint64_t> among = {}) const noexcept {
        return bloomline_matrix_any_hash(raw(), hash, live(among));
    }
    [[nodiscard]] uint64_t hash(Bytes key) const noexcept { return bloomline::hash(key, about().params.seed); }
    /// The name of a column; 0 if it has none.
    [[nodiscard]] uint64_t name(size_t column) const noexcept { return bloomline_matrix_name(raw(), column); }
    /// Returns a copy of a column.
    Result<Filter> column(size_t column) const noexcept {
        return made<Filter, bloomline_filter *>(bloomline_matrix_column, raw(), column);
    }
    /// Returns a copy with another number of columns.
    template <class M = Matrix>
    Result<M> with_columns(size_t columns) const noexcept {
        return made<M, bloomline_matrix *>(bloomline_matrix_with_columns, raw(), columns);
    }
private:
    const bloomline_matrix *raw() const noexcept { return static_cast<const Self &>(*this).get(); }
    const uint64_t *live(Span<const uint64_t> among) const noexcept {
        return among.size() == 0 || among.size() < (columns() + 63) / 64 ? nullptr : among.data();
    }
    /// The same, copied if they are among those of 'out', which are overwritten.
    struct Live {
        Live(const Columns &of, Span<const uint64_t> among, const Bitmap &out) : words(of.live(among)) {
            const std::vector<uint64_t> &own = out.words();
            if (words == nullptr || words < own.data() || words >= own.data() + own.size()) return;
            copy.assign(among.begin(), among.end());
            words = copy.data();
        }
        std::vector<uint64_t> copy;
        const uint64_t *words;
    };
};
} // namespace detail

/// The matrix of a Map, where its bytes are. Owns nothing; copy it freely. It is empty if the Map
/// holds another kind.
class MatrixView : public detail::Columns<MatrixView> {
public:
    MatrixView() noexcept = default;
    explicit MatrixView(const bloomline_matrix *matrix) noexcept : matrix_(matrix) {}
    explicit operator bool() const noexcept { return matrix_ != nullptr; }
    [[nodiscard]] const bloomline_matrix *get() const noexcept { return matrix_; }
    /// As Matrix::column_view(). Valid as long as the Map.
    Result<View> column_view(size_t column) const noexcept {
        return detail::made<View, bloomline_view>(bloomline_matrix_column_view, matrix_, column);
    }
    /// Returns it in memory of its own, to be changed.
    template <class M = Matrix>
    Result<M> clone() const noexcept {
        return detail::made<M, bloomline_matrix *>(bloomline_matrix_clone, matrix_);
    }
private:
    const bloomline_matrix *matrix_ = nullptr;
};

/// Many plain filters of one shape, which are probed for one key at once: see bloomline_matrix.
class Matrix : public detail::Saved<Matrix, bloomline_matrix, detail::Handle<bloomline_matrix>>,
               public detail::Columns<Matrix> {
public:
    using Saved::Saved;
    /// Empty columns of these parameters: 64 bytes for each line of a column, the columns rounded up to a
    /// multiple of 64.
    static Result<Matrix> create(const Result<Params> &shape, size_t columns) noexcept {
        if (!shape) return shape.status();
        return detail::made<Matrix, Raw *>(bloomline_matrix_new, &*shape, columns);
    }
    /// Makes a filter a column, folded if it is 2, 4, 8 and so on times as large.
    Status set_column(size_t column, const View &filter) noexcept {
        return bloomline_matrix_set_column(get(), column, &filter.get());
    }
    /// Makes filters the columns from 'first' on: best runs of 64, from a multiple of 64 on. On up to
    /// 'threads' threads; 0: on as many as there are CPUs.
    Status set_columns(size_t first, Span<const View> filters, size_t threads = 1) noexcept {
        return bloomline_matrix_set_columns(get(), first, detail::raw(filters), filters.size(), threads);
    }
    Status clear_column(size_t column) noexcept { return bloomline_matrix_clear_column(get(), column); }
    /// Empties all columns. Names stay.
    void clear() noexcept { bloomline_matrix_clear(get()); }
    /// A column as a filter by itself, also in a Group, which asks all its columns of one matrix at once.
    /// Valid until the matrix is changed or gone.
    Result<View> column_view(size_t column) const & noexcept { return MatrixView(get()).column_view(column); }
    Result<View> column_view(size_t column) const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
    /// 'is_new', unless it is left out, tells whether the key was new in the column.
    Status insert(size_t column, Bytes key, bool *is_new = nullptr) noexcept {
        return bloomline_matrix_insert(get(), column, key.data(), key.size(), is_new);
    }
    Status insert_u64(size_t column, uint64_t key, bool *is_new = nullptr) noexcept {
        return insert(column, IntegerKey(key), is_new);
    }
    Status insert_hash(size_t column, uint64_t hash, bool *is_new = nullptr) noexcept {
        return bloomline_matrix_insert_hash(get(), column, hash, is_new);
    }
    /// Many keys, faster than one by one.
    Status insert_hashes(size_t column, Span<const uint64_t> hashes) noexcept {
        return bloomline_matrix_insert_hashes(get(), column, hashes.data(), hashes.size(), nullptr);
    }
    Status insert_keys(size_t column, Span<const bloomline_bytes> keys) noexcept {
        return bloomline_matrix_insert_keys(get(), column, keys.data(), keys.size(), nullptr);
    }
    /// Sets the bits of the keys that were new in the column.
    Status insert_hashes(size_t column, Span<const uint64_t> hashes, Bitmap &is_new) {
        return is_new.fill(hashes.size(), [&](uint64_t *words) {
            return Status(bloomline_matrix_insert_hashes(get(), column, hashes.data(), hashes.size(), words));
        });
    }
    Status insert_keys(size_t column, Span<const bloomline_bytes> keys, Bitmap &is_new) {
        return is_new.fill(keys.size(), [&](uint64_t *words) {
            return Status(bloomline_matrix_insert_keys(get(), column, keys.data(), keys.size(), words));
        });
    }
    /// Names the columns, by a number of yours for each; no names remove them.
    Status set_names(Span<const uint64_t> names) noexcept {
        return bloomline_matrix_set_names(get(), names.data(), names.size());
    }
    /// Whether the encoded matrix has checksums, for matrix_contains_in().
    void set_checksums(bool checksums) noexcept { bloomline_matrix_set_checksums(get(), checksums); }
};

/// Which bytes of an encoded matrix hold the answers about a key, and where the 8 bytes of their checksum
/// are; 0: it has none.
struct MatrixRange {
    uint64_t offset, len, checksum;
};
/// Reads the shape of an encoded matrix of 'encoded_len' bytes from the last 64.
inline Result<MatrixShape> matrix_shape(Bytes footer, uint64_t encoded_len) noexcept {
    if (footer.size() != 64) return Status(BLOOMLINE_ERR_TRUNCATED);
    return detail::made<MatrixShape>(bloomline_matrix_shape_read, footer.data(), encoded_len);
}
/// The range for the key of a hash: bloomline::hash(key, shape.params.seed).
inline Result<MatrixRange> matrix_range(const MatrixShape &shape, uint64_t hash) noexcept {
    MatrixRange range{};
    Status status = bloomline_matrix_range(&shape, hash, &range.offset, &range.len, &range.checksum);
    return status ? Result<MatrixRange>(range) : status;
}
namespace detail {
/// Answers for all columns by 'probe'. After an error all are true, or there are none if 'shape' is not valid.
template <class Probe>
Status answers_of(const MatrixShape &shape, Bitmap &out, Probe probe) {
    if (auto any = matrix_range(shape, 0); !any) {
        out.fill_all(0);
        return any.status();
    }
    const Status status = out.fill(static_cast<size_t>(shape.columns), probe);
    if (!status) out.fill_all(static_cast<size_t>(shape.columns));
    return status;
}
/// The ranges that 'write' writes, 'most' at most. It tells how many.
template <class Write>
Result<std::vector<ByteRange>> ranges_of(size_t most, Write write) {
    std::vector<ByteRange> ranges(most);
    size_t count = 0;
    Status status = write(ranges.data(), &count);
    ranges.resize(count);
    return status ? Result<std::vector<ByteRange>>(std::move(ranges)) : status;
}
} // namespace detail
/// Probes all columns in the bytes of such a range. If 'checksum' is not empty, they are verified by it. After an
/// error all columns may have the key: all bits of 'out' are set, or it has none if 'shape' is not valid.
inline Status matrix_contains_in(const MatrixShape &shape, uint64_t hash, Bytes range, Bitmap &out,
                                 Bytes checksum = {}) {
    return detail::answers_of(shape, out, [&](uint64_t *words) {
        if (checksum.size() != 0 && checksum.size() != 8) return Status(BLOOMLINE_ERR_TRUNCATED);
        const void *const sum = checksum.size() != 0 ? checksum.data() : nullptr;
        return Status(bloomline_matrix_contains_in(&shape, hash, range.data(), range.size(), sum, words));
    });
}
/// The ranges to read for many keys, in ascending order. Ranges with a gap of at most 'gap' bytes between them become
/// one. Let 'gap' be as many bytes as the store sends in the time that a request takes. The matrix_range() of each key
/// lies within one of them.
inline Result<std::vector<ByteRange>> matrix_ranges(const MatrixShape &shape, Span<const uint64_t> hashes,
                                                    uint64_t gap) {
    return detail::ranges_of(hashes.size(), [&](ByteRange *out, size_t *count) {
        return bloomline_matrix_ranges(&shape, hashes.data(), hashes.size(), gap, out, count);
    });
}
/// The rows that the key of a hash reads, in ascending order: up to k ranges of a bit for each column, within its
/// matrix_range(). They have no checksum.
inline Result<std::vector<ByteRange>> matrix_row_ranges(const MatrixShape &shape, uint64_t hash) {
    return detail::ranges_of(16, [&](ByteRange *out, size_t *count) {
        return bloomline_matrix_row_ranges(&shape, hash, out, count);
    });
}
/// As matrix_contains_in(), in the bytes of these rows, one behind the other.
inline Status matrix_contains_in_rows(const MatrixShape &shape, uint64_t hash, Bytes rows, Bitmap &out) {
    return detail::answers_of(shape, out, [&](uint64_t *words) {
        return Status(bloomline_matrix_contains_in_rows(&shape, hash, rows.data(), rows.size(), words));
    });
}
/// Which bytes of an encoded matrix are the names of its columns, and which the checksums of its lines: 8 bytes
/// each. A 'len' of 0: it has none.
struct MatrixParts {
    ByteRange names, checksums;
};
inline Result<MatrixParts> matrix_parts(const MatrixShape &shape) noexcept {
    MatrixParts parts{};
    Status status = bloomline_matrix_parts(&shape, &parts.names, &parts.checksums);
    return status ? Result<MatrixParts>(parts) : status;
}

/// An encoded filter that was opened: of a kind that View::open() opens, a cascade, a growing
/// filter or a matrix. While a file is mapped, nobody may change it in place, in this process or
/// another. If it is written to, answers are wrong in either direction. If it is cut short, a probe
/// kills the process (SIGBUS). Replace the file by renaming another one over it, as save() does:
/// the map keeps the old file. If you cannot rule out changes in place, use load(), which reads the
/// file into memory.
class Map : public detail::Handle<bloomline_map>, public detail::Views<Map> {
public:
    using Handle::Handle;
    /// Maps a file and checks all of it.
    static Result<Map> open(const Path &path) noexcept {
        return detail::made<Map, Raw *>(bloomline_map_open, path.c_str(), 0u);
    }
    /// Maps a file and reads only its end: if its lines are damaged, an inserted key can be a false negative.
    static Result<Map> open_unverified(const Path &path) noexcept {
        return detail::made<Map, Raw *>(bloomline_map_open, path.c_str(), uint32_t{BLOOMLINE_MAP_UNVERIFIED});
    }
    /// Reads a file into memory of its own, and checks all of it.
    static Result<Map> load(const Path &path) noexcept {
        return detail::made<Map, Raw *>(bloomline_map_open, path.c_str(), uint32_t{BLOOMLINE_MAP_COPY});
    }
    /// The matrix that it has, if it is one. Valid as long as the Map.
    [[nodiscard]] MatrixView matrix() const & noexcept { return MatrixView(bloomline_map_matrix(get())); }
    MatrixView matrix() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
    /// In caller-owned bytes, which must stay unchanged where they are.
    static Result<Map> of_bytes(Bytes data) noexcept {
        return detail::made<Map, Raw *>(bloomline_map_bytes, data.data(), data.size(), 0u);
    }
    static Result<Map> of_bytes_unverified(Bytes data) noexcept {
        return detail::made<Map, Raw *>(bloomline_map_bytes, data.data(), data.size(), uint32_t{BLOOMLINE_MAP_UNVERIFIED});
    }
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<Map> of_bytes(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<Map> of_bytes_unverified(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");
};

/// A filter that owns its bytes, for a table cache. B is a type with data() and size(), such as a
/// Buffer, a std::string or a handle of an engine's block. An empty OwnedView says that every key
/// may be present.
template <class B = Buffer>
class OwnedView : public detail::Views<OwnedView<B>> {
public:
    OwnedView() noexcept = default;
    /// What View::open() opens, or a cascade.
    static Result<OwnedView> open(B bytes) { return held(std::move(bytes), Map::of_bytes, View::open); }
    static Result<OwnedView> open_unverified(B bytes) {
        return held(std::move(bytes), Map::of_bytes_unverified, View::open_unverified);
    }
    static Result<OwnedView> open_rocksdb(B bytes) { return held(std::move(bytes), nullptr, View::open_rocksdb); }
    static Result<OwnedView> open_leveldb(B bytes) { return held(std::move(bytes), nullptr, View::open_leveldb); }
    static Result<OwnedView> open_parquet(B bytes) { return held(std::move(bytes), nullptr, View::open_parquet); }
    static Result<OwnedView> open_parquet_bits(B bits) { return held(std::move(bits), nullptr, View::open_parquet_bits); }

    explicit operator bool() const noexcept { return bool(held_); }
    /// The bytes; nullptr if it is empty.
    [[nodiscard]] const B *bytes() const & noexcept { return held_ ? &held_->bytes : nullptr; }
    const B *bytes() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
    [[nodiscard]] const bloomline_view &get() const & noexcept {
        static constexpr bloomline_view none{};
        return held_ ? held_->view.get() : none;
    }
    const bloomline_view &get() const && BLOOMLINE_DELETED("the owner is a temporary: name it first");
private:
    // In one place on the heap: a std::string has its bytes in itself, a cascade's view leads to the Map.
    struct Held {
        B bytes;
        Map cascade;
        View view;
    };
    static Result<OwnedView> held(B bytes, Result<Map> (*open_cascade)(Bytes) noexcept,
                                  Result<View> (*open)(Bytes) noexcept) {
        auto made = std::make_unique<Held>(Held{std::move(bytes), Map(), View()});
        const Bytes data(made->bytes);
        Status status;
        if (open_cascade != nullptr && kind_of(data) == Kind::cascade) {
            auto opened = open_cascade(data);
            status = opened.status();
            made->cascade = *std::move(opened);
            made->view = made->cascade.view();
        } else {
            auto opened = open(data);
            status = opened.status();
            made->view = *opened;
        }
        OwnedView owner;
        owner.held_ = std::move(made);
        return status ? Result<OwnedView>(std::move(owner)) : status;
    }
    std::unique_ptr<Held> held_;
};

// ---- blocks and lines in the caller's memory --------------------------------------------------
/// block_build() makes an encoded filter of all hashes in the caller's buffer of 'cap' bytes, at least
/// block_len(), or in a Buffer.
[[nodiscard]] inline size_t block_len(const Params &params) noexcept { return bloomline_block_len(&params); }
inline Status block_build(const Params &params, Span<const uint64_t> hashes, void *out, size_t cap) noexcept {
    return bloomline_block_build(&params, hashes.data(), hashes.size(), out, cap);
}
inline Result<Buffer> block_build(const Params &params, Span<const uint64_t> hashes) {
    auto build = [&](void *out, size_t cap) { return block_build(params, hashes, out, cap); };
    return detail::bytes_of(block_len(params), build);
}

/// The same with a static filter, smaller and for a set that no longer changes. static_block_len()
/// is the most that it may take.
[[nodiscard]] inline size_t static_block_len(size_t keys, double rate) noexcept {
    return bloomline_static_block_len(keys, rate);
}
/// On up to 'threads' threads; 0: on as many as there are CPUs.
inline Status static_block_build(Span<const uint64_t> hashes, double rate, uint64_t seed, void *out,
                                 size_t cap, size_t *written, size_t threads = 1) noexcept {
    return bloomline_static_block_build(hashes.data(), hashes.size(), rate, seed, threads, out, cap, written);
}
inline Result<Buffer> static_block_build(Span<const uint64_t> hashes, double rate, uint64_t seed = 0,
                                         size_t threads = 1) {
    return detail::some_of(static_block_len(hashes.size(), rate), [&](void *out, size_t cap, size_t *written) {
        return static_block_build(hashes, rate, seed, out, cap, written, threads);
    });
}

/// Saves a block, or any encoded filter, as a file: checks it, and replaces the file atomically.
inline Status block_save(Bytes block, const Path &path) noexcept {
    return bloomline_block_save(block.data(), block.size(), path.c_str());
}

/// Inserts into caller-owned lines of 64 bytes each; zeros are empty ones.
inline Status lines_insert_hashes(const Params &params, void *lines, size_t len,
                                  Span<const uint64_t> hashes) noexcept {
    return bloomline_lines_insert_hashes(&params, lines, len, hashes.data(), hashes.size());
}
/// Adds all keys of other lines of the same parameters, such as View::lines().
inline Status lines_union(const Params &params, void *lines, size_t len, Bytes from) noexcept {
    return bloomline_lines_union(&params, lines, len, from.data(), from.size());
}
/// Keeps what both have.
inline Status lines_intersect(const Params &params, void *lines, size_t len, Bytes from) noexcept {
    return bloomline_lines_intersect(&params, lines, len, from.data(), from.size());
}
/// Valid as long as the lines are there.
inline Result<View> lines_view(const Params &params, const void *lines, size_t len) noexcept {
    return detail::made<View, bloomline_view>(bloomline_lines_view, &params, lines, len);
}

/// Builds the filters of one block after the other, from keys that come one by one.
class Builder : public detail::Handle<bloomline_builder> {
public:
    using Handle::Handle;
    /// Of plain filters, by bits per key or by false-positive rate.
    static Result<Builder> create(double bits_per_key, uint64_t seed = 0) noexcept {
        return detail::made<Builder, Raw *>(bloomline_builder_new, bits_per_key, seed);
    }
    static Result<Builder> create_for_rate(double rate, uint64_t seed = 0) noexcept {
        return detail::made<Builder, Raw *>(bloomline_builder_new_for_rate, rate, seed);
    }
    /// Of static filters: smaller, for sets that no longer change.
    static Result<Builder> create_static(double rate, uint64_t seed = 0) noexcept {
        return detail::made<Builder, Raw *>(bloomline_builder_new_static, rate, seed);
    }
    /// Adds a key to the block. After an error it is not added, and would be a false negative of the block.
    Status add(Bytes key) noexcept { return bloomline_builder_add(get(), key.data(), key.size()); }
    Status add_u64(uint64_t key) noexcept { return add(IntegerKey(key)); }
    Status add_hash(uint64_t hash) noexcept { return bloomline_builder_add_hash(get(), hash); }
    Status add_hashes(Span<const uint64_t> hashes) noexcept {
        return bloomline_builder_add_hashes(get(), hashes.data(), hashes.size());
    }
    Status add_keys(Span<const bloomline_bytes> keys) noexcept {
        return bloomline_builder_add_keys(get(), keys.data(), keys.size());
    }
    /// Drops the keys added since the last block.
    void clear() noexcept { bloomline_builder_clear(get()); }
    /// How many keys were added since the last block, but for repetitions that add() leaves out.
    [[nodiscard]] size_t key_count() const noexcept { return bloomline_builder_key_count(get()); }
    /// How many bytes finish() will write; of a static filter, at most.
    [[nodiscard]] size_t block_len() const noexcept { return bloomline_builder_block_len(get()); }
    /// Writes the filter of the keys added since the last block. The builder is then empty, for the next.
    Status finish(void *out, size_t cap, size_t *written = nullptr) noexcept {
        return bloomline_builder_finish(get(), out, cap, written);
    }
    Result<Buffer> finish() {
        return detail::some_of(block_len(), [&](void *out, size_t cap, size_t *written) {
            return finish(out, cap, written);
        });
    }
};

/// The hash and the filter blocks of another engine, byte for byte: bloomline.h says which keys to
/// leave out. To open them: View::open_rocksdb(), open_leveldb(), open_parquet().
template <uint32_t Number>
struct Engine {
    [[nodiscard]] static uint64_t hash(Bytes key) noexcept {
        return bloomline_engine_hash(Number, key.data(), key.size());
    }
    /// The hashes of many keys, as keys() makes them of a container.
    [[nodiscard]] static std::vector<uint64_t> hash_batch(Span<const bloomline_bytes> keys) {
        std::vector<uint64_t> hashes(keys.size());
        bloomline_engine_hash_batch(Number, keys.data(), keys.size(), hashes.data());
        return hashes;
    }
    [[nodiscard]] static size_t block_len(size_t keys, double bits_per_key) noexcept {
        return bloomline_engine_block_len(Number, keys, bits_per_key);
    }
    static Status block_build(Span<const uint64_t> hashes, double bits_per_key, void *out,
                              size_t cap, size_t *written = nullptr) noexcept {
        return bloomline_engine_block_build(Number, hashes.data(), hashes.size(), bits_per_key, out, cap, written);
    }
    static Result<Buffer> block_build(Span<const uint64_t> hashes, double bits_per_key) {
        auto build = [&](void *out, size_t cap) { return block_build(hashes, bits_per_key, out, cap); };
        return detail::bytes_of(block_len(hashes.size(), bits_per_key), build);
    }
};
/// RocksDB since format_version 5, before it (also Pebble), and LevelDB (also goleveldb).
using RocksDb = Engine<BLOOMLINE_ENGINE_ROCKSDB>;
using RocksDbLegacy = Engine<BLOOMLINE_ENGINE_ROCKSDB_LEGACY>;
using LevelDb = Engine<BLOOMLINE_ENGINE_LEVELDB>;

namespace detail {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
inline constexpr bool little_endian = false;
#else
inline constexpr bool little_endian = true;
#endif
// Whether a C is numbers of 4 or 8 bytes, one behind the other in memory: a std::vector, or what pointers iterate.
template <class C, class = void>
struct NumbersInMemory : std::false_type {};
template <class C>
struct NumbersInMemory<C, std::void_t<decltype(std::data(std::declval<const C &>()), std::size(std::declval<const C &>()))>> {
    using Number = std::remove_reference_t<decltype(*std::data(std::declval<const C &>()))>;
    using Value = std::remove_cv_t<Number>;
    using Iterator = decltype(std::begin(std::declval<const C &>()));
    static constexpr bool is_contiguous =
        std::is_pointer_v<Iterator> || std::is_same_v<Iterator, typename std::vector<Value>::const_iterator>;
    static constexpr bool value =
        is_contiguous && std::is_arithmetic_v<Number> && (sizeof(Number) == 4 || sizeof(Number) == 8);
};
} // namespace detail

/// A number as a key of a Parquet filter, little-endian on every CPU: an INT32 or FLOAT has 4 bytes, an
/// INT64 or DOUBLE 8, a BOOLEAN (bool) one. 42 as an int32_t and as an int64_t are two keys, and so are
/// 0.0 and -0.0.
class ParquetValue {
public:
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    explicit ParquetValue(T value) noexcept : size_(sizeof value) {
        static_assert(std::is_same_v<T, bool> || sizeof(T) == 4 || sizeof(T) == 8,
                      "a number of Parquet has 4 or 8 bytes: make it the type of its column first");
        std::memcpy(bytes_, &value, sizeof value);
        for (size_t i = 0; !detail::little_endian && i < size_ / 2; i++) std::swap(bytes_[i], bytes_[size_ - 1 - i]);
    }
    [[nodiscard]] const uint8_t *data() const noexcept { return bytes_; }
    [[nodiscard]] size_t size() const noexcept { return size_; }
private:
    uint8_t bytes_[8] = {};
    size_t size_;
};

/// Filters of Parquet files: a header, then bits. The keys of views of them are byte arrays as they are,
/// and numbers as a ParquetValue.
struct Parquet : Engine<BLOOMLINE_ENGINE_PARQUET> {
    struct Header { size_t header_len, bits_len; };
    /// If the file does not say how long a filter is, read so many bytes from its start on, or what the file has.
    static constexpr size_t max_header_len = BLOOMLINE_PARQUET_MAX_HEADER_LEN;

    using Engine::hash;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    [[nodiscard]] static uint64_t hash(T value) noexcept { return hash(Bytes(ParquetValue(value))); }
    /// The hashes of a column: of numbers, or of anything that Bytes is made of.
    template <class C>
    [[nodiscard]] static std::vector<uint64_t> hashes(const C &values) {
        std::vector<uint64_t> out;
        if constexpr (detail::little_endian && detail::NumbersInMemory<C>::value) {
            out.resize(std::size(values));
            bloomline_parquet_hash_fixed(std::data(values), sizeof *std::data(values), out.size(), out.data());
        } else {
            for (const auto &value : values) out.push_back(hash(value));
        }
        return out;
    }
    [[nodiscard]] static double bits_per_key(double rate) noexcept { return bloomline_parquet_bits_per_key(rate); }
    [[nodiscard]] static size_t bits_len(uint64_t keys, double bits_per_key) noexcept {
        return bloomline_parquet_bits_len(keys, bits_per_key);
    }
    static Result<Header> read_header(Bytes start) noexcept {
        Header header{};
        Status status = bloomline_parquet_read_header(start.data(), start.size(), &header.header_len, &header.bits_len);
        return status ? Result<Header>(header) : status;
    }
    static Result<Buffer> header(size_t bits_len) {
        return detail::some_of(19, [&](void *out, size_t cap, size_t *written) {
            return Status(bloomline_parquet_write_header(bits_len, out, cap, written));
        });
    }
    /// Inserts into bits: zeros, or those of another filter.
    static Status insert_hashes(Span<uint8_t> bits, Span<const uint64_t> hashes) noexcept {
        return bloomline_parquet_insert_hashes(bits.data(), bits.size(), hashes.data(), hashes.size());
    }
    /// Folds the bits for as long as their false-positive rate stays at 'rate' or below.
    static Status fold(Buffer &bits, double rate) {
        size_t len = bits.size();
        Status status = bloomline_parquet_fold(bits.data(), bits.size(), rate, &len);
        bits.resize(len);
        return status;
    }
};

/// The split blocks of Kudu, Impala or Doris, in caller-owned bytes. No byte says whose blocks they are.
/// Opened as Parquet's, they would give false negatives. Owns nothing; copy it freely. A default-constructed one says that every key
/// may be present.
class KuduView {
public:
    KuduView() noexcept : view_{} {}
    explicit KuduView(const bloomline_kudu_view &view) noexcept : view_(view) {}
    static Result<KuduView> open(Bytes bits) noexcept {
        return detail::made<KuduView, bloomline_kudu_view>(bloomline_kudu_view_open, bits.data(), bits.size());
    }
    template <class C, class = std::enable_if_t<detail::owning_temporary<C>>>
    static Result<KuduView> open(C &&) BLOOMLINE_DELETED("the bytes are a temporary: name them first");

    /// By the hash of 32 bits that the key was inserted by.
    [[nodiscard]] bool contains_hash32(uint32_t hash) const noexcept {
        return bloomline_kudu_view_contains_hash32(&view_, hash);
    }
    /// Sets the bits of the keys that may be present, and returns how many they are.
    size_t contains_hashes32(Span<const uint32_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), bloomline_kudu_view_contains_hashes32, &view_, hashes.data(), hashes.size());
    }
private:
    bloomline_kudu_view view_;
};

/// A split-block filter of Velox. It owns a copy of the blocks; copies of a VeloxView share it. A
/// default-constructed one says that every key may be present.
class VeloxView {
public:
    VeloxView() noexcept = default;
    /// 'block_size' is sizeof(SplitBlockBloomFilter::Block) of the program that made the blocks: 32, or else
    /// BLOOMLINE_ERR_LAYOUT.
    static Result<VeloxView> open(Bytes blocks, size_t block_size) {
        auto held = std::make_shared<Held>();
        held->copy.resize(blocks.size());
        Status status = bloomline_velox_view_open(blocks.data(), blocks.size(), block_size, held->copy.data(), &held->view);
        VeloxView view;
        if (status) view.held_ = std::move(held);
        return status ? Result<VeloxView>(std::move(view)) : status;
    }
    [[nodiscard]] bool contains_hash(uint64_t hash) const noexcept {
        return bloomline_velox_view_contains_hash(view(), hash);
    }
    /// Sets the bits of the keys that may be present, and returns how many they are.
    size_t contains_hashes(Span<const uint64_t> hashes, Bitmap &out) const {
        return out.fill(hashes.size(), bloomline_velox_view_contains_hashes, view(), hashes.data(), hashes.size());
    }
private:
    struct Held {
        Buffer copy;
        bloomline_velox_view view{};
    };
    const bloomline_velox_view *view() const noexcept { return held_ ? &held_->view : nullptr; }
    std::shared_ptr<const Held> held_;
};

} // namespace abi_0
} // namespace bloomline

#endif // BLOOMLINE_HPP
