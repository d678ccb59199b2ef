/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* filter.h - plain filters, and those of classic parameters. A part of kinds.h. */

STORED(filter)
PROBED(filter)
INSERTED(filter)
INSERTED_ALL(filter)
UNITED(filter)
CREATED(filter, filter, bloomline_filter_new(params, &filter))
CREATED(classic, filter, classic_new(params, &filter))
ADDED(filter, bloomline_filter_insert_hash(filter, hash))

static bloomline_status filter_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return bloomline_filter_new(&params, (bloomline_filter **)out);
}
static bloomline_status classic_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return classic_new(&params, (bloomline_filter **)out);
}
static void filter_other(char *answer, void *handle, char **words)
{
    bloomline_filter *filter = (bloomline_filter *)handle;
    bloomline_params params;
    if (is(words[0], "key_count")) history_number(answer, filter_key_count(filter));
    else if (is(words[0], "clear")) bloomline_filter_clear(filter);
    else if (is(words[0], "fold")) history_status(answer, bloomline_filter_fold(filter));
    else say_params(answer, filter_params(filter, &params), &params);
}
