#!/usr/bin/env bash
# Which Rust tests do not run on other CPUs and under AddressSanitizer, where most take ten times as
# long: what they do there, others do too, or no CPU does it in another way.
#
#   scripts/long-tests.sh LIST [32]
#
# LIST has what the test programs print for --list. Prints the arguments that leave the tests out, one
# per line, and says on standard error which and why. With 32 those remain that count bytes: their
# numbers are of a usize, and this CPU runs them. A name that no test has, or no module (`name::`), is an error.
set -euo pipefail

case $#,${2-} in 1, | 2,32) ;; *) echo "usage: scripts/long-tests.sh LIST [32]" >&2; exit 2 ;; esac

while IFS='|' read -r why names; do
    case ${2-},$why in 32,"count bytes"*) continue ;; esac
    for name in $names; do
        case $name in *::) rest='.*' ;; *) rest= ;; esac
        grep -qE "(^|::)$name$rest: test\$" "$1" || { echo "long-tests: there is no test $name" >&2; exit 1; }
        printf -- '--skip\n%s\n' "$name"
    done
    echo "does not run: $why:$names" >&2
done <<'LIST'
count false positives, of filters that others test| static_model::
count false positives, of filters that others test| rates_are_the_textbooks the_rate_is_that_of_all_generations
count false positives, of filters that others test| the_rate_is_that_of_the_model layers_pass_at_their_rates
count bytes, of filters that others test| bounds:: churn:: a_thousand_times_the_first_capacity ninety_five_per_cent_go_in
count bytes, of filters that others test| filters_hold_the_keys_they_are_sized_for any_number_of_generations
count bytes, of filters that others test| as_small_as_any_first_layer_makes_it hashes_of_layers_are_independent
count bytes, of filters that others test| twice_the_keys_take_less_than_the_limit
the committed histories run, with every backend| any_history_is_answered_as_by_the_definition
the tests' own definition alone| histories::committed_files_are_what_the_definition_makes
LIST
