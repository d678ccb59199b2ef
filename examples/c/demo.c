/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * demo.c - a filter's whole life, on real keys: it is built from one half of them, saved,
 * mapped back, and asked for all of them. What it prints is measured here and now: the
 * false-positive rate beside the predicted one, false negatives (there are none), and
 * nanoseconds per key.
 *
 *     demo [--rate R] [--out FILE] [KEYS]
 *
 * KEYS is a file with one key per line; without it, the keys are the paths of all files of
 * this machine. `make demo` in the root of the project builds and runs it.
 *
 * C11 and POSIX. Uses bloomline.h and the C library.
 */
#define _XOPEN_SOURCE 700

#include <bloomline.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How it ends. */
enum { ALL_RIGHT = 0, FALSE_NEGATIVE = 1, FAILED = 2 };

/* How many keys are asked for in one call. */
enum { BATCH = 4096 };

static const char usage[] =
    "usage: demo [--rate R] [--out FILE] [KEYS]\n"
    "\n"
    "Builds a Bloom filter from every second key, saves it, maps it back, asks it for\n"
    "all keys, and prints what that takes and how often the filter is wrong.\n"
    "\n"
    "  KEYS        a file with one key per line, or - for standard input; without it,\n"
    "              the paths of all files of this machine (find / -xdev)\n"
    "  --rate R    the false-positive rate to size the filter for (0.01)\n"
    "  --out FILE  keep the filter in this file\n"
    "  --help      print this\n"
    "\n"
    "Exit status: 0; 1 if a key that is in the filter was not found, which would be a\n"
    "bug; 2 if something else failed.\n";

/* ---- words and numbers ---- */

static void clear_progress(void);

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2), noreturn))
#endif
static void fail(const char *format, ...)
{
    va_list arguments;
    clear_progress();
    fputs("demo: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(FAILED);
}

static void check(bloomline_status status, const char *doing)
{
    if (status != BLOOMLINE_OK) fail("%s: %s", doing, bloomline_status_message(status));
}

/* A number with its thousands apart: 1,234,567. Good for the next few calls. */
static const char *grouped(uint64_t number)
{
    static char ring[8][32];
    static unsigned next;
    char *at = ring[next++ % 8] + sizeof ring[0] - 1;
    *at = '\0';
    for (int digits = 0; digits == 0 || number > 0; digits++, number /= 10) {
        if (digits > 0 && digits % 3 == 0) *--at = ',';
        *--at = (char)('0' + number % 10);
    }
    return at;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* What is going on: on a terminal one line that changes, elsewhere a line for each stage. */
static bool on_terminal;

static void clear_progress(void)
{
    if (on_terminal) fputs("\r\033[K", stderr);
}

static void stage(const char *text)
{
    clear_progress();
    fprintf(stderr, on_terminal ? "%s ..." : "demo: %s\n", text);
    fflush(stderr);
}

static void progress(const char *text, uint64_t done, const char *unit)
{
    static double last;
    if (!on_terminal || now() - last < 0.1) return;
    last = now();
    clear_progress();
    fprintf(stderr, "%s ... %s %s", text, grouped(done), unit);
    fflush(stderr);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) fail("out of memory for %s keys", grouped(count));
    return memory;
}

/* ---- the keys ---- */

typedef struct {
    char *text;
    size_t len;
    bloomline_bytes *keys; /* no two the same */
    size_t count, repeated;
} key_set;

static void read_all(key_set *set, FILE *file, const char *what)
{
    size_t room = 0;
    for (;;) {
        if (set->len == room) {
            room = room == 0 ? 1 << 20 : 2 * room;
            char *larger = realloc(set->text, room);
            if (larger == NULL) fail("out of memory for %s bytes of keys", grouped(room));
            set->text = larger;
        }
        size_t got = fread(set->text + set->len, 1, room - set->len < 1 << 16 ? room - set->len : 1 << 16, file);
        set->len += got;
        if (got == 0) break;
        progress(what, set->len >> 10, "KiB");
    }
}

/* The paths of all files. Those that may not be read are left out, and a path may have any
   byte but NUL in it, so that is what ends one. */
static void collect_paths(key_set *set)
{
    stage("collecting file paths: find / -xdev");
    FILE *find = popen("find / -xdev -print0 2>/dev/null", "r");
    if (find == NULL) fail("cannot run find: %s", strerror(errno));
    read_all(set, find, "collecting file paths");
    int status = pclose(find);
    if (set->len == 0) {
        fail("find gave no file paths (status %d); give a file of keys instead",
             WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
}

static void read_keys(key_set *set, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL) fail("cannot open '%s': %s", path, strerror(errno));
    stage("reading keys");
    errno = 0;
    read_all(set, file, "reading keys");
    if (ferror(file)) fail("cannot read '%s': %s", path, strerror(errno));
    if (file != stdin) fclose(file);
    if (set->len == 0) fail("'%s' is empty; it should have one key per line", path);
}

/* Finds the keys in the text, each once: a key that came twice could land in both halves. */
static void split(key_set *set, char separator)
{
    stage("looking for repeated keys");
    const char *end = set->text + set->len;
    size_t most = 0;
    for (const char *at = set->text; at != NULL && at < end; most++) {
        at = memchr(at, separator, (size_t)(end - at));
        if (at != NULL) at++;
    }
    size_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    size_t *table = allocate(slots, sizeof *table); /* 1 + the number of a key; 0: free */
    set->keys = allocate(most, sizeof *set->keys);
    for (const char *at = set->text; at < end;) {
        const char *stop = memchr(at, separator, (size_t)(end - at));
        if (stop == NULL) stop = end;
        bloomline_bytes key = {(const uint8_t *)at, (size_t)(stop - at)};
        size_t slot = bloomline_hash(key.data, key.len, 1) & (slots - 1);
        for (; table[slot] != 0; slot = (slot + 1) & (slots - 1)) {
            const bloomline_bytes *other = &set->keys[table[slot] - 1];
            if (other->len == key.len && memcmp(other->data, key.data, key.len) == 0) break;
        }
        if (table[slot] != 0) {
            set->repeated++;
        } else {
            set->keys[set->count++] = key;
            table[slot] = set->count;
        }
        at = stop + 1;
    }
    free(table);
}

static uint64_t key_bytes(const key_set *set)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < set->count; i++) sum += set->keys[i].len;
    return sum;
}

/* ---- the filter ---- */

/* Every second key; 'first' is 0 or 1. */
static bloomline_bytes *half_of(const key_set *set, size_t first, size_t *count)
{
    *count = (set->count + 1 - first) / 2;
    bloomline_bytes *half = allocate(*count, sizeof *half);
    for (size_t i = 0; i < *count; i++) half[i] = set->keys[first + 2 * i];
    return half;
}

/* Asks for all keys, or, if there are hashes, for those. Returns how many may be in. */
static uint64_t probe(const bloomline_view *view, const bloomline_bytes *keys, const uint64_t *hashes, size_t count)
{
    uint64_t bitmap[BATCH / 64], present = 0;
    for (size_t i = 0; i < count; i += BATCH) {
        size_t n = count - i < BATCH ? count - i : BATCH;
        present += hashes != NULL ? bloomline_view_contains_hashes(view, hashes + i, n, bitmap)
                                  : bloomline_view_contains_keys(view, keys + i, n, bitmap);
    }
    return present;
}

/* Nanoseconds per key of the fastest of some passes: those that nothing else disturbed. */
enum what { BUILD, PROBE_KEYS, PROBE_HASHES };
static double measure(enum what what, bloomline_filter *filter, const bloomline_view *view,
                      const bloomline_bytes *keys, const uint64_t *hashes, size_t count)
{
    double best = INFINITY, until = now() + 0.2;
    for (int pass = 0; pass < 3 || (now() < until && pass < 1000); pass++) {
        if (what == BUILD) bloomline_filter_clear(filter);
        double start = now();
        if (what == BUILD) bloomline_filter_insert_keys(filter, keys, count);
        else probe(view, keys, what == PROBE_HASHES ? hashes : NULL, count);
        double seconds = now() - start;
        if (seconds < best) best = seconds;
    }
    return best * 1e9 / (double)count;
}

/* Saves the filter, as 'out' if that is given, and maps it back. */
static bloomline_map *save_and_map(const bloomline_filter *filter, const char *out)
{
    char temporary[4096], doing[4200];
    const char *path = out, *directory = getenv("TMPDIR");
    if (path == NULL) {
        snprintf(temporary, sizeof temporary, "%s/bloomline-demo-XXXXXX",
                 directory != NULL && directory[0] != '\0' ? directory : "/tmp");
        int file = mkstemp(temporary);
        if (file < 0) fail("cannot make the temporary file '%s': %s", temporary, strerror(errno));
        close(file);
        path = temporary;
    }
    bloomline_map *map = NULL;
    snprintf(doing, sizeof doing, "cannot save the filter as '%s'", path);
    bloomline_status status = bloomline_filter_save(filter, path);
    if (status == BLOOMLINE_OK) {
        snprintf(doing, sizeof doing, "cannot map '%s'", path);
        status = bloomline_map_open(path, 0, &map);
    }
    if (out == NULL) remove(path); /* what is mapped stays */
    check(status, doing);
    return map;
}

int main(int argc, char **argv)
{
    const char *path = NULL, *out = NULL;
    double rate = 0.01;
    on_terminal = isatty(STDERR_FILENO);
    for (int i = 1; i < argc; i++) {
        bool valued = strcmp(argv[i], "--rate") == 0 || strcmp(argv[i], "--out") == 0;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return ALL_RIGHT;
        }
        if (valued && i + 1 == argc) fail("%s needs a value; see --help", argv[i]);
        if (strcmp(argv[i], "--rate") == 0) {
            char *end;
            rate = strtod(argv[++i], &end);
            if (end == argv[i] || *end != '\0') fail("'%s' is no rate; write it as 0.01", argv[i]);
        } else if (strcmp(argv[i], "--out") == 0) {
            out = argv[++i];
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            fail("there is no option '%s'; see --help", argv[i]);
        } else if (path != NULL) {
            fail("one file of keys, please, not '%s' and '%s'; see --help", path, argv[i]);
        } else {
            path = argv[i];
        }
    }
    /* Before the keys are collected, which takes longer. */
    bloomline_params params;
    check(bloomline_params_for_rate(1, rate, &params), "--rate");

    key_set set = {NULL, 0, NULL, 0, 0};
    if (path == NULL) collect_paths(&set);
    else read_keys(&set, path);
    split(&set, path == NULL ? '\0' : '\n');
    if (set.count < 2) fail("two different keys are needed at least: one to be in, one to be absent");

    size_t in_count, absent_count;
    bloomline_bytes *in = half_of(&set, 0, &in_count), *absent = half_of(&set, 1, &absent_count);
    uint64_t *hashes = allocate(in_count, sizeof *hashes);

    stage("building the filter");
    bloomline_filter *filter = NULL;
    check(bloomline_params_for_rate(in_count, rate, &params), "cannot size the filter");
    check(bloomline_filter_new(&params, &filter), "cannot make the filter");
    double build_ns = measure(BUILD, filter, NULL, in, NULL, in_count);

    stage("saving it and mapping it back");
    bloomline_map *map = save_and_map(filter, out);
    bloomline_view view;
    check(bloomline_map_view(map, &view), "cannot view the filter");
    size_t bytes = bloomline_filter_encoded_len(filter);
    bloomline_filter_free(filter); /* from here on, only what was saved */

    stage("probing");
    uint64_t found = probe(&view, in, NULL, in_count), wrong = probe(&view, absent, NULL, absent_count);
    bloomline_hash_batch(in, in_count, params.seed, hashes);
    uint64_t found_by_hash = probe(&view, NULL, hashes, in_count);
    uint64_t lost = in_count - (found < found_by_hash ? found : found_by_hash);
    double keys_ns = measure(PROBE_KEYS, NULL, &view, in, NULL, in_count);
    double hashes_ns = measure(PROBE_HASHES, NULL, &view, NULL, hashes, in_count);
    clear_progress();

    double predicted = bloomline_params_rate(&params, in_count), measured = (double)wrong / (double)absent_count;
    double noise = 2 * sqrt(predicted * (1 - predicted) / (double)absent_count);
    printf("bloomline %s, backend %s\n\n", bloomline_version(), bloomline_backend());
    printf("  keys             %s\n", path == NULL ? "the paths of all files of this machine" : path);
    printf("                   %s in the filter, %s absent; %s bytes on average\n", grouped(in_count),
           grouped(absent_count), grouped(key_bytes(&set) / set.count));
    if (set.repeated > 0) printf("                   %s repeated ones left out\n", grouped(set.repeated));
    printf("  filter           %s bytes, %.2f bits per key, k = %" PRIu32 "\n", grouped(bytes),
           (double)bytes * 8 / (double)in_count, params.k);
    if (out != NULL) printf("                   kept in %s\n", out);
    printf("\n  build            %7.2f ns per key, hashing included\n", build_ns);
    printf("  probe            %7.2f ns per key, hashing included\n", keys_ns);
    printf("  probe by hash    %7.2f ns per key\n", hashes_ns);
    printf("\n  false positives  %7.4f %% predicted, give or take %.4f\n", predicted * 100, noise * 100);
    printf("                   %7.4f %% measured: %s of %s\n", measured * 100, grouped(wrong), grouped(absent_count));
    printf("  false negatives  %7s of %s%s\n", grouped(lost), grouped(in_count),
           lost > 0 ? ": this is a BUG, please report it" : "");

    bloomline_map_close(map);
    free(hashes);
    free(in);
    free(absent);
    free(set.keys);
    free(set.text);
    return lost > 0 ? FALSE_NEGATIVE : ALL_RIGHT;
}
