/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_verbs.c DIRECTORY - the same verbs on every kind: each kind has a verb, or kinds.h says why not; and a verb does
 * the same for all that have it. Batches, copies and the rest are held to single inserts, which the histories hold to
 * the definitions.
 */
#define _XOPEN_SOURCE 700

#include "kinds.h"

enum { KEYS = 300, ALL = 2000 };

static const row *kind;

/* Runs what follows for each kind that has the verb. */
#define EACH_WITH(verb) for (kind = rows; kind < rows + ROWS; kind++) if (kind->lacks[VERB_##verb] == NULL)

/* ---- the list ---- */

static void each_verb_is_there_or_has_a_reason(void)
{
#define VERB_NAME(verb) #verb,
    static const char *const names[] = {EACH_VERB(VERB_NAME)};
    size_t lacking = 0;
    for (kind = rows; kind < rows + ROWS; kind++) {
        const bool there[VERBS] = {
            [VERB_new] = kind->make != NULL,
            [VERB_free] = kind->destroy != NULL,
            [VERB_memory] = kind->memory != NULL,
            [VERB_contains] = kind->contains != NULL && kind->contains_all != NULL,
            [VERB_view] = kind->view != NULL,
            [VERB_insert] = kind->insert != NULL,
            [VERB_insert_hashes] = kind->insert_all != NULL,
            [VERB_insert_new_hashes] = kind->insert_new != NULL,
            [VERB_remove] = kind->remove != NULL,
            [VERB_remove_hashes] = kind->remove_all != NULL,
            [VERB_count_hash] = kind->count != NULL,
            [VERB_clear] = kind->clear != NULL,
            [VERB_union] = kind->unite != NULL,
            [VERB_intersect] = kind->intersect != NULL,
            [VERB_clone] = kind->clone != NULL,
            [VERB_snapshot] = kind->snapshot != NULL,
            [VERB_encoded_len] = kind->len != NULL,
            [VERB_encode] = kind->encode != NULL,
            [VERB_write] = kind->write != NULL,
            [VERB_decode] = kind->decode != NULL,
            [VERB_save] = kind->save != NULL,
            [VERB_load] = kind->load != NULL,
            [VERB_map] = kind->mapped,
            [VERB_equal] = false,
        };
        for (int verb = 0; verb < VERBS; verb++) {
            const char *why = kind->lacks[verb];
            CHECK_WITH(there[verb] == (why == NULL), "%s, %s: %s", kind->name, names[verb], why == NULL ? "no reason" : why);
            CHECK_WITH(why == NULL || strlen(why) > 10, "%s, %s: %s", kind->name, names[verb], why);
            lacking += why != NULL;
        }
    }
    printf("    %d kinds, %d verbs, %zu reasons\n", (int)ROWS, (int)VERBS, lacking);
}

/* ---- what the tests are made of ---- */

static void *empty_one(void)
{
    void *filter = NULL;
    REQUIRE_OK(kind->create(&whole_params, &filter));
    return filter;
}

/* Asks for the keys from 'first' on. */
static void ask(uint64_t first, size_t n)
{
    asked.bytes = false;
    asked.n = n;
    for (size_t i = 0; i < n; i++) asked.hashes[i] = bloomline_hash_u64(first + i, 1);
}

static bool insert_key(void *filter, uint64_t key)
{
    bool is_new = false;
    ask(key, 1);
    REQUIRE_OK(kind->insert(filter, &is_new));
    return is_new;
}

static void *with_keys(uint64_t first, size_t n)
{
    void *filter = empty_one();
    for (size_t i = 0; i < n; i++) insert_key(filter, first + i);
    return filter;
}

/* With keys, whatever they are. */
static void *full_one(void)
{
    if (kind->insert != NULL) return with_keys(0, KEYS);
    if (kind->fewest > 0) return filled(kind);
    static char rows_of_lines[] = "7", seed[] = "1", keys[] = "hashes:300:1";
    char *args[] = {rows_of_lines, seed, keys};
    void *filter = NULL;
    REQUIRE_OK(kind->make(args, 3, &filter));
    return filter;
}

/* Two filters have the same bytes. */
static bool same(const void *one, const void *two)
{
    size_t len_of_one, len_of_two;
    uint8_t *bytes_of_one = encoded_by(kind, one, &len_of_one), *bytes_of_two = encoded_by(kind, two, &len_of_two);
    bool is_same = len_of_one == len_of_two && memcmp(bytes_of_one, bytes_of_two, len_of_one) == 0;
    free(bytes_of_one), free(bytes_of_two);
    return is_same;
}

/* They have, and the second is gone afterwards. */
static void check_same(const void *one, void *two, int line)
{
    CHECK_WITH(same(one, two), "%s, line %d", kind->name, line);
    kind->destroy(two);
}
#define CHECK_SAME(one, two) check_same((one), (two), __LINE__)

/* ---- the verbs ---- */

static void insert_and_contains(void)
{
    static uint64_t bitmap[ALL / 64 + 1];
    EACH_WITH(insert) {
        void *filter = empty_one();
        ask(0, ALL);
        CHECK_U64(0, kind->contains_all(filter, bitmap));
        size_t new_ones = 0;
        for (uint64_t key = 0; key < KEYS; key++) {
            new_ones += insert_key(filter, key);
            CHECK(kind->contains(filter, 0));
        }
        CHECK_WITH(new_ones > KEYS * 4 / 5 && new_ones <= KEYS, "%s: %zu", kind->name, new_ones);
        ask(0, ALL);
        size_t count = kind->contains_all(filter, bitmap), set = 0;
        for (size_t i = 0; i < ALL; i++) {
            set += bit_of(bitmap, i);
            CHECK_WITH(kind->contains(filter, i) == bit_of(bitmap, i), "%s, key %zu", kind->name, i);
            CHECK_WITH(i >= KEYS || bit_of(bitmap, i), "%s lost key %zu", kind->name, i);
        }
        CHECK_WITH(set == count && count < ALL / 2, "%s: %zu, %zu", kind->name, count, set);
        kind->destroy(filter);
    }
}

static void views_answer_as_the_filter(void)
{
    EACH_WITH(view) {
        if (kind->insert == NULL) continue; /* the histories ask them */
        void *filter = full_one();
        bloomline_view view = kind->view(filter);
        ask(0, ALL);
        for (size_t i = 0; i < ALL; i++) {
            CHECK_WITH(kind->contains(filter, i) == bloomline_view_contains_hash(&view, asked.hashes[i]), "%s, key %zu", kind->name, i);
        }
        kind->destroy(filter);
    }
}

static void batches_insert_as_single_keys(void)
{
    size_t count = 0;
    EACH_WITH(insert_hashes) {
        void *filter = empty_one();
        ask(0, KEYS);
        CHECK_OK(kind->insert_all(filter, NULL, &count));
        CHECK_SAME(filter, full_one());
        kind->destroy(filter);
    }
    EACH_WITH(insert_new_hashes) {
        static uint64_t is_new[KEYS / 64 + 1];
        void *filter = with_keys(KEYS / 2, KEYS / 4), *single = with_keys(KEYS / 2, KEYS / 4);
        memset(is_new, 0xA5, sizeof is_new);
        ask(0, KEYS);
        CHECK_OK(kind->insert_new(filter, is_new, &count));
        size_t new_ones = 0;
        for (size_t i = 0; i < KEYS; i++) {
            bool expected = insert_key(single, i);
            CHECK_WITH(expected == bit_of(is_new, i), "%s, key %zu", kind->name, i);
            new_ones += expected;
        }
        CHECK_U64(new_ones, count);
        CHECK_SAME(filter, single);
        kind->destroy(filter);
    }
}

static void removed_keys_leave_nothing(void)
{
    EACH_WITH(remove) {
        void *filter = full_one();
        for (uint64_t key = 0; key < KEYS; key++) {
            ask(key, 1);
            CHECK_OK(kind->remove(filter, 0));
        }
        CHECK_STATUS(BLOOMLINE_ERR_ABSENT, kind->remove(filter, 0));
        CHECK_SAME(filter, empty_one());
        kind->destroy(filter);
    }
    EACH_WITH(remove_hashes) {
        static uint64_t removed[(KEYS + 100) / 64 + 1];
        void *filter = full_one();
        memset(removed, 0xA5, sizeof removed);
        ask(0, KEYS + 100);
        CHECK_U64(KEYS, kind->remove_all(filter, removed));
        CHECK_U64(0, kind->remove_all(NULL, NULL));
        for (size_t i = 0; i < KEYS + 100; i++) CHECK_WITH(bit_of(removed, i) == (i < KEYS), "%s, key %zu", kind->name, i);
        CHECK_SAME(filter, empty_one());
        kind->destroy(filter);
    }
}

static void keys_are_counted(void)
{
    EACH_WITH(count_hash) {
        void *filter = empty_one();
        for (uint64_t key = 0; key < KEYS / 3; key++) {
            for (uint64_t times = 0; times < key % 4; times++) insert_key(filter, key);
        }
        ask(0, KEYS);
        size_t exact = 0;
        for (size_t i = 0; i < KEYS; i++) {
            uint64_t expected = i < KEYS / 3 ? i % 4 : 0, count = kind->count(filter, i);
            CHECK_WITH(count >= expected, "%s, key %zu: %u", kind->name, i, (unsigned)count);
            exact += count == expected;
        }
        CHECK_WITH(exact > KEYS * 9 / 10, "%s: %zu", kind->name, exact);
        kind->destroy(filter);
    }
}

static void cleared_it_is_as_new(void)
{
    EACH_WITH(clear) {
        static uint64_t bitmap[ALL / 64 + 1];
        void *filter = full_one();
        kind->clear(filter);
        kind->clear(NULL);
        CHECK_SAME(filter, empty_one());
        ask(0, ALL);
        CHECK_U64(0, kind->contains_all(filter, bitmap));
        for (uint64_t key = 0; key < KEYS; key++) insert_key(filter, key);
        CHECK_SAME(filter, full_one());
        kind->destroy(filter);
    }
}

static void sets_are_combined(void)
{
    EACH_WITH(union) {
        void *one = with_keys(0, KEYS / 2), *two = with_keys(KEYS / 4, KEYS / 2), *both = with_keys(0, KEYS / 2);
        for (uint64_t key = KEYS / 4; key < KEYS / 4 + KEYS / 2; key++) insert_key(both, key);
        CHECK_OK(kind->unite(one, two));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->unite(NULL, two));
        CHECK_SAME(one, both);
        kind->destroy(one), kind->destroy(two);
    }
    EACH_WITH(intersect) {
        void *one = with_keys(0, KEYS / 2), *two = with_keys(KEYS / 4, KEYS / 2), *both = with_keys(0, KEYS / 2);
        CHECK_OK(kind->intersect(both, two));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, kind->intersect(both, NULL));
        ask(0, ALL);
        size_t only_in_one = 0;
        for (size_t i = 0; i < ALL; i++) {
            bool in_one = kind->contains(one, i), in_both = in_one && kind->contains(two, i);
            CHECK_WITH(kind->contains(both, i) == in_both, "%s, key %zu", kind->name, i);
            only_in_one += in_one && !in_both;
        }
        CHECK_WITH(only_in_one > KEYS / 8, "%s: %zu", kind->name, only_in_one);
        kind->destroy(one), kind->destroy(two), kind->destroy(both);
    }
}

static void copies_are_apart(void)
{
    EACH_WITH(clone) {
        void *filter = full_one(), *copy = NULL;
        CHECK_OK(kind->clone(filter, &copy));
        CHECK_WITH(same(filter, copy), "%s", kind->name);
        if (kind->insert != NULL) {
            for (uint64_t key = KEYS; key < 2 * KEYS; key++) insert_key(copy, key);
            CHECK_WITH(!same(filter, copy), "%s", kind->name);
            CHECK_SAME(filter, full_one());
        }
        kind->destroy(filter), kind->destroy(copy);
    }
    EACH_WITH(snapshot) {
        static uint8_t bytes[64 * 11];
        size_t written = 0, len;
        void *filter = full_one();
        bloomline_filter *snapshot = kind->snapshot(filter);
        uint8_t *expected = encoded_by(kind, filter, &len);
        CHECK_OK(bloomline_filter_encode(snapshot, bytes, sizeof bytes, &written));
        CHECK_WITH(written == len && memcmp(bytes, expected, len) == 0, "%s", kind->name);
        bloomline_filter_free(snapshot);
        free(expected);
        kind->destroy(filter);
    }
}

/* The bytes that are written go to a buffer that has room for them. */
static struct {
    uint8_t *data;
    size_t len, cap;
} sink;

static bool collect(void *context, const void *data, size_t len)
{
    REQUIRE(context == &sink && len <= sink.cap - sink.len);
    memcpy(sink.data + sink.len, data, len);
    sink.len += len;
    return true;
}

static void bytes_and_files(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    for (kind = rows; kind < rows + ROWS; kind++) {
        void *filter = full_one(), *again = NULL;
        size_t len;
        uint8_t *bytes = encoded_by(kind, filter, &len);
        CHECK_OK(kind->decode(bytes, len, &again));
        CHECK_SAME(filter, again);
        if (kind->lacks[VERB_memory] == NULL) CHECK_WITH(kind->memory(filter) > len / 2, "%s", kind->name);
        if (kind->lacks[VERB_write] == NULL) {
            sink.data = (uint8_t *)malloc(len), sink.len = 0, sink.cap = len;
            REQUIRE(sink.data != NULL);
            CHECK_OK(kind->write(filter, collect, &sink));
            CHECK_WITH(sink.len == len && memcmp(sink.data, bytes, len) == 0, "%s", kind->name);
            free(sink.data);
        }
        again = NULL;
        CHECK_OK(kind->save(filter, path.text));
        CHECK_OK(kind->load(path.text, &again));
        bloomline_map *map = NULL;
        bloomline_status mapped = kind->lacks[VERB_map] == NULL ? BLOOMLINE_OK : BLOOMLINE_ERR_LAYOUT;
        CHECK_STATUS(mapped, bloomline_map_open(path.text, 0, &map));
        bloomline_map_close(map);
        CHECK(unlink(path.text) == 0);
        CHECK_SAME(filter, again);
        kind->destroy(filter);
        free(bytes);
    }
    CHECK(rmdir(directory.text) == 0);
}

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_verbs");
    RUN(each_verb_is_there_or_has_a_reason);
    RUN(insert_and_contains);
    RUN(views_answer_as_the_filter);
    RUN(batches_insert_as_single_keys);
    RUN(removed_keys_leave_nothing);
    RUN(keys_are_counted);
    RUN(cleared_it_is_as_new);
    RUN(sets_are_combined);
    RUN(copies_are_apart);
    RUN(bytes_and_files);
    return check_end();
}
