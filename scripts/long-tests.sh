#!/usr/bin/env bash
# Which Rust tests do not run on other CPUs and under AddressSanitizer, where most take ten times as
# long: what they do there, others do too, or no CPU does it in another way.
#
#   scripts/long-tests.sh LIST aarch64|s390x|i686|asan
#
# LIST has what the test programs print for --list. Prints the arguments that leave the tests out, one
# per line, and says on standard error which and why. A name that no test has, or no module (`name::`, and `name_` of
# all that begin so), is an error.
set -euo pipefail

usage() { echo "usage: scripts/long-tests.sh LIST aarch64|s390x|i686|asan" >&2; exit 2; }
[ $# -eq 2 ] || usage
case $2 in aarch64 | s390x | i686 | asan) ;; *) usage ;; esac

while IFS='|' read -r where why names; do
    case " $where " in *" $2 "*) ;; *) continue ;; esac
    for name in $names; do
        case $name in *:: | *_) rest='.*' ;; *) rest= ;; esac
        grep -qE "(^|::)$name$rest: test\$" "$1" || { echo "long-tests: there is no test $name" >&2; exit 1; }
        printf -- '--skip\n%s\n' "$name"
    done
    echo "does not run: $why:$names" >&2
done <<'LIST'
aarch64 s390x i686 asan|count false positives, of filters that others test| static_model:: rates_of_small_filters
aarch64 s390x i686 asan|count false positives, of filters that others test| rates_are_the_textbooks the_rate_is_that_of_all_generations
aarch64 s390x i686 asan|count false positives, of filters that others test| the_rate_is_that_of_the_model layers_pass_at_their_rates
aarch64 s390x i686 asan|count false positives, of filters that others test| any_history_keeps_the_rate
aarch64 s390x asan|count bytes, of filters that others test| bounds:: churn:: a_thousand_times_the_first_capacity
aarch64 s390x asan|count bytes, of filters that others test| filters_hold_the_keys_they_are_sized_for any_number_of_generations
aarch64 s390x asan|count bytes, of filters that others test| as_small_as_any_first_layer_makes_it
aarch64 s390x i686 asan|count bits of hashes, which have 64 everywhere| hashes_of_layers_are_independent
aarch64 s390x asan|count bytes, of filters that others test| twice_the_keys_take_less_than_the_limit ninety_five_per_cent_go_in
aarch64 s390x i686 asan|count work, of filters that others test| refused_inserts_cost_little a_ninth_copy_is_refused_at_once
asan|count the system's pages, of which AddressSanitizer takes many| growing_filters_take_what_they_say
aarch64 s390x|large, of what others test small| cuckoo::large_filters one_key_of_filters_in_memory large_sets unbounded_filters_lose_no_key
aarch64 s390x|large, of what others test small| crowds_before_the_ends_of_regions_are_read_again
s390x|numbers, whose bytes others test| one_run_of_every_k a_group_asks_columns_in_any_order intersected_unbounded_filters
s390x|numbers, whose bytes others test| few:: batches:: backends::large_filters backends::every_batch_length
s390x|numbers, whose bytes others test| concurrent::batches_of_every_length cuckoo::backends_answer_as_the_definition
s390x|numbers, whose bytes others test| group::blocks_of_rocksdb group::runs_in_a_row_and_by_turns
s390x|numbers, whose bytes others test| growing::histories::answers_are_those_of_the_set_of_prefixes
s390x|numbers, whose bytes others test| growing::at_once:: growing::shared:: keys_that_repeat_often_take_no_room
s390x|numbers, whose bytes others test| estimated_keys_are_near_the_number too_many_keys_are_no_false_negatives
s390x|damage, which histories and files of every kind have| every_bit_flipped files_cut_and_altered any_byte_changed
s390x|damage, which histories and files of every kind have| short_prefixes_that_would_become_very_many
aarch64 s390x|threads, to which emulated memory is that of this CPU| parallel::
aarch64 s390x i686 asan|the committed histories run, with every backend| any_history_is_answered_as_by_the_definition
aarch64 s390x i686 asan|the tests' own definition alone| histories::committed_files_are_what_the_definition_makes
aarch64 asan|the tests' own definition alone, little-endian with 64 bits| committed_files_are_what_the_definition_makes
aarch64|bytes, little-endian with 64 bits; histories have the answers| format:: golden:: golden_ matrix::bytes::
LIST
