/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* window.h - windows, of which keys expire. A part of kinds.h. */

STORED(window)
PROBED(window)
CLEARED(window)
INSERTED(window)
INSERTED_NEW(window)
CREATED(window, window, bloomline_window_new(3, 15 * params->line_count, 0.01, 3, &filter))
ADDED(window, if (hash % 100 == 0) bloomline_window_rotate(filter); bloomline_window_insert_hash(filter, hash))

static bloomline_status window_make(char **args, size_t count, void **out)
{
    (void)count;
    return bloomline_window_new((uint32_t)golden_number(args[0], 10), golden_number(args[1], 10), strtod(args[2], NULL),
                                golden_number(args[3], 10), (bloomline_window **)out);
}
static void window_other(char *answer, void *handle, char **words)
{
    bloomline_window *window = (bloomline_window *)handle;
    if (is(words[0], "key_count")) history_number(answer, bloomline_window_key_count(window, (uint32_t)golden_number(words[1], 10)));
    else if (is(words[0], "slice")) history_number(answer, window_about(window).time_slice);
    else if (is(words[0], "rotate")) bloomline_window_rotate(window);
    else if (is(words[0], "advance")) bloomline_window_advance_to(window, golden_number(words[1], 10));
    else if (is(words[0], "rotate_after")) bloomline_window_rotate_after(window, golden_number(words[1], 10));
    else {
        bloomline_window_facts facts;
        bloomline_status status = bloomline_window_about(window, &facts);
        say_params(answer, status, &facts.params);
    }
}

#define WINDOW_LACKS(NOT, OTHER)                                                                          \
    NOT(window, remove, "keys leave with their generation")                                               \
    NOT(window, remove_hashes, "keys leave with their generation")                                        \
    NOT(window, count_hash, "a bit is set or not: a counting or growing filter counts")                   \
    NOT(window, union, "generations of two windows begin at different times: probe both")                 \
    NOT(window, intersect, "generations of two windows begin at different times: probe both")             \
    NOT(window, snapshot, "nobody probes it while it changes: a clone is one")                            \
    OTHER(window, map, "views are of one filter, its bytes have several: load them")                      \
    NOT(window, equal, "equal windows have equal bytes: compare those")
