/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline_inline.h - probes and inserts of one key without a call.
 *
 * Include it where one key after the other is probed or inserted by hash, and compile that file
 * for a CPU with AVX2 or AVX-512 (-mavx2, -march=x86-64-v3 or -v4, -march=native; /arch:AVX2).
 * The functions then take about two thirds of the time of a call. Without the instructions they
 * call the library, as they do for filters other than bloomline_filter's own kind: a probe of a
 * static filter takes as long inlined as called. Answers and bytes are the library's. With
 * BLOOMLINE_BACKEND=scalar or portable they call it, too.
 *
 *   bloomline_inline filter = bloomline_inline_of(&view);  (once: it checks the view)
 *   for (...) hits += bloomline_inline_contains_hash(filter, hash);
 *
 * bloomline_filter_view(), bloomline_lines_view() and bloomline_view_open() make a view. It must
 * stay, as must its bytes.
 *
 * This header is of one version of the library: it reads a view's words, which other versions
 * order differently. bloomline.h ensures that both are of one BLOOMLINE_ABI_VERSION.
 */
#ifndef BLOOMLINE_INLINE_H
#define BLOOMLINE_INLINE_H

#include "bloomline.h"

#if defined(__AVX2__) && (defined(__x86_64__) || defined(_M_X64)) && !defined(__ILP32__)
#define BLOOMLINE_INLINE_ 1
#include <immintrin.h>
#else
#define BLOOMLINE_INLINE_ 0
#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif
#endif

/* Inlined whatever the optimisation: a copy of a method of C++, made for one instruction set, would
 * serve files that are compiled for another. */
#if defined(__GNUC__)
#define BLOOMLINE_INLINE_METHOD_ inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define BLOOMLINE_INLINE_METHOD_ __forceinline
#else
#define BLOOMLINE_INLINE_METHOD_ inline
#endif
#define BLOOMLINE_INLINE_FN_ static BLOOMLINE_INLINE_METHOD_

/* What nearly always holds. */
#if defined(__GNUC__)
#define BLOOMLINE_LIKELY_(condition) __builtin_expect(!!(condition), 1)
#else
#define BLOOMLINE_LIKELY_(condition) (condition)
#endif

#ifdef __cplusplus
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
extern "C" {
#endif

/* The words of a view. Not for the caller. The last checks the others. */
enum {
    BLOOMLINE_WORD_CALL_ = 0,
    BLOOMLINE_WORD_LINES_ = 1,
    BLOOMLINE_WORD_COUNT_ = 2,
    BLOOMLINE_WORD_K_ = 3,
    BLOOMLINE_WORD_SEED_ = 4,
    BLOOMLINE_WORD_KEYS_ = 5,
    BLOOMLINE_WORD_SHAPE_ = 6,
    BLOOMLINE_WORD_CHECK_ = 7
};

#define BLOOMLINE_CHECK_START_ UINT64_C(0x4D4C5649)
#define BLOOMLINE_C1_ UINT64_C(0x9E3779B97F4A7C15)
#define BLOOMLINE_C2_ UINT64_C(0xD6E8FEB86659FD93)

/* Whether the view was opened. */
BLOOMLINE_INLINE_FN_ bool bloomline_inline_sound_(const bloomline_view *view)
{
    const uint64_t *w = view->opaque;
    uint64_t sum = (w[BLOOMLINE_WORD_CALL_] + BLOOMLINE_CHECK_START_) ^ w[BLOOMLINE_WORD_K_];
    sum = (sum + w[BLOOMLINE_WORD_LINES_]) ^ w[BLOOMLINE_WORD_SEED_];
    sum = (sum - w[BLOOMLINE_WORD_COUNT_]) ^ w[BLOOMLINE_WORD_KEYS_];
    return sum + w[BLOOMLINE_WORD_SHAPE_] == w[BLOOMLINE_WORD_CHECK_];
}

/* The high 64 bits of a product. */
BLOOMLINE_INLINE_FN_ uint64_t bloomline_inline_high_(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 bloomline_u128_;
    return (uint64_t)((bloomline_u128_)a * b >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    return __umulh(a, b);
#else
    uint64_t al = a & 0xFFFFFFFFu, ah = a >> 32, bl = b & 0xFFFFFFFFu, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32);
    return ah * bh + (mid >> 32) + ((al * bh + (mid & 0xFFFFFFFFu)) >> 32);
#endif
}

/**
 * A view whose lines are probed and inserted into by the functions below. Make it with
 * bloomline_inline_of(), keep it in a local variable. Its fields are not for the caller.
 */
typedef struct bloomline_inline {
    const bloomline_view *view;
    uint64_t lines, count, rows;
    uint32_t layout; /* 0 if not opened */
    uint32_t rounds; /* 0 if all is left to the library */
} bloomline_inline;

/**
 * bloomline_inline_of() checks a view, which may be NULL or not opened: then every key may be
 * present, and none can be inserted.
 */
BLOOMLINE_INLINE_FN_ bloomline_inline bloomline_inline_of(const bloomline_view *view)
{
    bloomline_inline filter = {NULL, 0, 0, 0, 0, 0};
    const uint64_t k = view != NULL ? view->opaque[BLOOMLINE_WORD_K_] : 0;
    filter.view = view;
    /* With addresses of 32 bits the words are others. */
    if (view == NULL || sizeof(void *) != 8 || !bloomline_inline_sound_(view)) return filter;
    filter.lines = view->opaque[BLOOMLINE_WORD_LINES_];
    filter.count = view->opaque[BLOOMLINE_WORD_COUNT_];
    filter.layout = (uint32_t)(view->opaque[BLOOMLINE_WORD_SHAPE_] >> 8 & 0xFF);
    if (filter.layout == 10) filter.layout = 1; /* lines that threads share */
    /* k is here where the library has rows that have a one in each lane that counts, and a tag: 2
     * for k up to 8, 3 for more. */
    if (BLOOMLINE_INLINE_ && (k & 2) != 0) {
        filter.rows = k & ~UINT64_C(3);
        filter.rounds = (uint32_t)(k & 3) - 1;
    }
    return filter;
}

/**
 * bloomline_inline_prefetch_hash() asks for the cache line of a hash, to be probed soon: 8 to 16
 * keys ahead is a good distance in a filter that does not fit in the cache. It is a hint: it reads
 * nothing, and does nothing for NULL, for views not opened, and for kinds of filters whose keys
 * take more than one line.
 */
BLOOMLINE_INLINE_FN_ void bloomline_inline_prefetch_hash(bloomline_inline filter, uint64_t hash)
{
    uint64_t index;
    if (filter.layout == 1) {
        index = bloomline_inline_high_(hash, filter.count);
    } else if (filter.layout == 2) { /* RocksDB's */
        index = (hash & 0xFFFFFFFFu) * filter.count >> 32;
    } else {
        return;
    }
#if defined(__GNUC__)
    __builtin_prefetch((const void *)(uintptr_t)(filter.lines + 64 * index));
#elif defined(_MSC_VER) && defined(_M_X64)
    _mm_prefetch((const char *)(uintptr_t)(filter.lines + 64 * index), _MM_HINT_T0);
#else
    (void)index;
#endif
}

#if BLOOMLINE_INLINE_

#if defined(__AVX512F__) && defined(__AVX512VL__)
#define BLOOMLINE_ROTATES_ 1
#else
#define BLOOMLINE_ROTATES_ 0
#endif

/* Both halves of a line, or of a mask over it. */
typedef struct bloomline_halves_ {
    __m256i low, high;
} bloomline_halves_;

/* The bit positions of one round, g. Rotates ignore what is above 6 bits. */
BLOOMLINE_INLINE_FN_ bloomline_halves_ bloomline_inline_positions_(uint64_t g)
{
    const __m256i all = _mm256_set1_epi64x((long long)g);
    bloomline_halves_ at;
    at.low = _mm256_srlv_epi64(all, _mm256_setr_epi64x(13, 19, 25, 31));
    at.high = _mm256_srlv_epi64(all, _mm256_setr_epi64x(37, 43, 49, 55));
#if !BLOOMLINE_ROTATES_
    at.low = _mm256_and_si256(at.low, _mm256_set1_epi64x(63));
    at.high = _mm256_and_si256(at.high, _mm256_set1_epi64x(63));
#endif
    return at;
}

/* Whether a line has the bits of one round, in all lanes or in those of a row: 1 or 0. */
BLOOMLINE_INLINE_FN_ int bloomline_inline_has_(
    bloomline_halves_ line, uint64_t g, bool all, uint64_t rows)
{
    const bloomline_halves_ at = bloomline_inline_positions_(g);
    __m256i both;
#if BLOOMLINE_ROTATES_
    line.low = _mm256_rorv_epi64(line.low, at.low);
    line.high = _mm256_rorv_epi64(line.high, at.high);
#else
    line.low = _mm256_srlv_epi64(line.low, at.low);
    line.high = _mm256_srlv_epi64(line.high, at.high);
#endif
    if (all) {
        both = _mm256_and_si256(line.low, line.high);
        return _mm256_testc_si256(both, _mm256_set1_epi64x(1));
    }
    /* The lower halves of all lanes, whose rows of 32 bytes are behind those of 64. */
    both = _mm256_castps_si256(_mm256_shuffle_ps(
        _mm256_castsi256_ps(line.low), _mm256_castsi256_ps(line.high), 0x88));
    return _mm256_testc_si256(both,
        _mm256_loadu_si256((const __m256i *)(uintptr_t)(rows + 512 + (g >> 61) * 32)));
}

/* Ones moved to the positions of one round, g. */
BLOOMLINE_INLINE_FN_ bloomline_halves_ bloomline_inline_round_(uint64_t g, bloomline_halves_ ones)
{
    const bloomline_halves_ at = bloomline_inline_positions_(g);
#if BLOOMLINE_ROTATES_
    ones.low = _mm256_rolv_epi64(ones.low, at.low);
    ones.high = _mm256_rolv_epi64(ones.high, at.high);
#else
    ones.low = _mm256_sllv_epi64(ones.low, at.low);
    ones.high = _mm256_sllv_epi64(ones.high, at.high);
#endif
    return ones;
}

/* The same for the lanes that count. */
BLOOMLINE_INLINE_FN_ bloomline_halves_ bloomline_inline_some_(uint64_t g, uint64_t rows)
{
    const __m256i *row = (const __m256i *)(uintptr_t)(rows + (g >> 61) * 64);
    bloomline_halves_ ones;
    ones.low = _mm256_load_si256(row);
    ones.high = _mm256_load_si256(row + 1);
    return bloomline_inline_round_(g, ones);
}

/* The bits of a key in its line. */
BLOOMLINE_INLINE_FN_ bloomline_halves_ bloomline_inline_mask_(
    bloomline_inline filter, uint64_t hash)
{
    bloomline_halves_ first, second;
    if (BLOOMLINE_LIKELY_(filter.rounds == 1)) return bloomline_inline_some_(hash * BLOOMLINE_C1_, filter.rows);
    first.low = first.high = _mm256_set1_epi64x(1);
    first = bloomline_inline_round_(hash * BLOOMLINE_C1_, first);
    second = bloomline_inline_some_(hash * BLOOMLINE_C2_, filter.rows);
    first.low = _mm256_or_si256(first.low, second.low);
    first.high = _mm256_or_si256(first.high, second.high);
    return first;
}

/* Where the line of a hash is. */
BLOOMLINE_INLINE_FN_ __m256i *bloomline_inline_line_(bloomline_inline filter, uint64_t hash)
{
    const uint64_t index = bloomline_inline_high_(hash, filter.count);
    return (__m256i *)(uintptr_t)(filter.lines + 64 * index);
}

#endif

/**
 * bloomline_inline_contains_hash() is bloomline_view_contains_hash(). But no other thread or process
 * may insert meanwhile, as it may into the lines of a bloomline_concurrent or of
 * bloomline_lines_view(): the compiler may read a line once for several probes.
 */
BLOOMLINE_INLINE_FN_ bool bloomline_inline_contains_hash(bloomline_inline filter, uint64_t hash)
{
#if BLOOMLINE_INLINE_
    if (BLOOMLINE_LIKELY_(filter.rounds != 0)) {
        const __m256i *line = bloomline_inline_line_(filter, hash);
        bloomline_halves_ lanes;
        lanes.low = _mm256_loadu_si256(line);
        lanes.high = _mm256_loadu_si256(line + 1);
        if (BLOOMLINE_LIKELY_(filter.rounds == 1)) {
            return bloomline_inline_has_(lanes, hash * BLOOMLINE_C1_, false, filter.rows) != 0;
        }
        return (bloomline_inline_has_(lanes, hash * BLOOMLINE_C1_, true, 0) &
            bloomline_inline_has_(lanes, hash * BLOOMLINE_C2_, false, filter.rows)) != 0;
    }
#endif
    return bloomline_view_contains_hash(filter.view, hash);
}

/**
 * bloomline_inline_insert_hash() inserts a key by its hash into the lines of the view, which the
 * caller may write: a filter's (bloomline_filter_view()), or its own (bloomline_lines_view()). The
 * rules are those of an insert into them: no other thread uses them meanwhile. The key count of a
 * filter does not change.
 *
 * Returns false if nothing was inserted: the view is NULL or not opened, or of a filter that has no
 * bloomline_params.
 */
BLOOMLINE_MUST_USE
BLOOMLINE_INLINE_FN_ bool bloomline_inline_insert_hash(bloomline_inline filter, uint64_t hash)
{
#if BLOOMLINE_INLINE_
    if (BLOOMLINE_LIKELY_(filter.rounds != 0)) {
        __m256i *line = bloomline_inline_line_(filter, hash);
        const bloomline_halves_ mask = bloomline_inline_mask_(filter, hash);
        _mm256_storeu_si256(line, _mm256_or_si256(_mm256_loadu_si256(line), mask.low));
        _mm256_storeu_si256(line + 1, _mm256_or_si256(_mm256_loadu_si256(line + 1), mask.high));
        return true;
    }
#endif
    {
        bloomline_params params;
        size_t len;
        void *lines = (void *)(uintptr_t)bloomline_view_lines(filter.view, &len);
        if (bloomline_view_shape(filter.view, &params) != BLOOMLINE_OK) return false;
        return bloomline_lines_insert_hashes(&params, lines, len, &hash, 1) == BLOOMLINE_OK;
    }
}

#ifdef __cplusplus
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif

#endif /* BLOOMLINE_INLINE_H */
