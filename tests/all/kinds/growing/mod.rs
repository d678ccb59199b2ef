//! Growing filters: every answer is that of the set of prefixes, both ways, over long histories.

mod at_once;
mod bounds;
mod churn;
mod histories;
mod journal;
mod journal_file;
mod parallel;
mod patches;
mod rate;
mod sets;
mod shared;
mod verbs;
