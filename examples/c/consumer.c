/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * consumer.c - a consumer of a log that knows after a crash which messages it has handled.
 *
 *     cc -O2 -o consumer consumer.c $(pkg-config --cflags --libs bloomline)
 *     ./consumer [BATCHES]               200 unless told
 *
 * Messages may arrive twice. A filter of those of the last KEPT batches tells which are certainly new, so
 * that only the few others are looked up. After each batch what changed is appended to a journal, with the
 * number of the batch, and only then is the batch acknowledged. The program kills the consumer again and
 * again, in the middle of its work. It starts again, and goes on behind the last batch that was saved.
 *
 * Exit status: 0; 1 if a batch that was acknowledged is lost, or too many new messages are taken for old
 * ones; 2 if something failed. POSIX.
 */
#define _XOPEN_SOURCE 700

#include <bloomline.h>

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGES = 500, KEPT = 50, FIRST = 1000, CRASHES = 5 };

#define RATE 0.01

static void check(bloomline_status status, const char *doing)
{
    if (status == BLOOMLINE_OK) return;
    fprintf(stderr, "consumer: %s: %s\n", doing, bloomline_status_message(status));
    exit(2);
}

static uint64_t message(uint64_t batch, uint64_t i) { return bloomline_hash_u64(batch << 32 | i, 7); }

/* Handles the batches from the one behind the last that is saved, and acknowledges each. */
static void consume(const char *path, uint64_t batches, int acknowledged)
{
    bloomline_journal *journal;
    bloomline_growing *filter;
    bloomline_status status = bloomline_journal_open(path, &journal, &filter);
    if (status == BLOOMLINE_ERR_NOT_FOUND) {
        check(bloomline_growing_new_unbounded(FIRST, RATE, 0, &filter), "making a filter");
        status = bloomline_journal_create(path, filter, 0, &journal);
    }
    check(status, path);
    for (uint64_t batch = bloomline_journal_sequence(journal) + 1; batch <= batches; batch++) {
        for (uint64_t i = 0; i < MESSAGES; i++) {
            check(bloomline_growing_insert_hash(filter, message(batch, i), NULL), "a message");
            if (batch > KEPT) check(bloomline_growing_remove_hash(filter, message(batch - KEPT, i)), "an old one");
        }
        check(bloomline_journal_save_changed(journal, filter, batch), "saving");
        /* On the disk: from here on it may not be lost. */
        if (write(acknowledged, &batch, sizeof batch) != sizeof batch) exit(2);
        if (bloomline_journal_file_len(journal) > 4 * bloomline_growing_memory(filter)) {
            check(bloomline_journal_restart(journal, filter, batch), "making the journal short");
        }
    }
    bloomline_journal_free(journal);
    bloomline_growing_free(filter);
    exit(0);
}

/* Runs the consumer until it has acknowledged 'count' batches more, and kills it then. Returns the last. */
static uint64_t run(const char *path, uint64_t batches, uint64_t count, uint64_t last)
{
    int ends[2];
    uint64_t batch;
    if (pipe(ends) != 0) exit(2);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        consume(path, batches, ends[1]);
    }
    close(ends[1]);
    if (child < 0) exit(2);
    for (; count > 0 && read(ends[0], &batch, sizeof batch) == sizeof batch; count--) last = batch;
    kill(child, SIGKILL);
    /* What it acknowledged before it was killed counts, too. */
    while (read(ends[0], &batch, sizeof batch) == sizeof batch) last = batch;
    close(ends[0]);
    int status;
    if (waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) exit(2);
    return last;
}

/* Removes the directory and the journal, and files that were being written when the consumer was killed. */
static void clear(const char *directory)
{
    DIR *files = opendir(directory);
    for (struct dirent *file; files != NULL && (file = readdir(files)) != NULL;) {
        unlinkat(dirfd(files), file->d_name, 0); /* fails for . and .. */
    }
    if (files != NULL) closedir(files);
    rmdir(directory);
}

int main(int argc, char **argv)
{
    const uint64_t batches = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
    const char *base = getenv("TMPDIR");
    char directory[512], path[600];
    if (batches == 0) {
        fprintf(stderr, "consumer: usage: consumer [BATCHES]\n");
        return 2;
    }
    snprintf(directory, sizeof directory, "%s/consumer-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(directory) == NULL) return 2;
    snprintf(path, sizeof path, "%s/messages", directory);
    uint64_t acknowledged = 0;
    for (uint64_t crash = 0; crash < CRASHES; crash++) {
        acknowledged = run(path, batches, batches / (CRASHES + 1), acknowledged);
    }
    acknowledged = run(path, batches, UINT64_MAX, acknowledged);

    bloomline_journal *journal;
    bloomline_growing *filter;
    bloomline_view view;
    check(bloomline_journal_open(path, &journal, &filter), path);
    check(bloomline_growing_view(filter, &view), "viewing it");
    const uint64_t saved = bloomline_journal_sequence(journal), oldest = saved > KEPT ? saved - KEPT + 1 : 1;
    uint64_t lost = 0, wrong = 0;
    for (uint64_t batch = oldest; batch <= saved; batch++) {
        for (uint64_t i = 0; i < MESSAGES; i++) lost += !bloomline_view_contains_hash(&view, message(batch, i));
    }
    for (uint64_t i = 0; i < 100000; i++) wrong += bloomline_view_contains_hash(&view, message(batches + 1, i));
    printf("acknowledged  %" PRIu64 " batches, %" PRIu64 " saved; killed %d times\n", acknowledged, saved, CRASHES);
    printf("journal       %" PRIu64 " KB, the filter of %" PRIu64 " messages %zu KB\n",
           bloomline_journal_file_len(journal) / 1024, bloomline_view_key_count(&view), bloomline_growing_memory(filter) / 1024);
    printf("lost          %" PRIu64 "; %.2f %% of new messages are looked up\n", lost, (double)wrong / 1000);
    bloomline_journal_free(journal);
    bloomline_growing_free(filter);
    clear(directory);
    return lost > 0 || saved < acknowledged || saved != batches || wrong > 1500;
}
