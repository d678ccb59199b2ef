//! Many lines at once, a value of each.

use super::find::find;
use super::select::Select;
use crate::layouts::growing::Found;
use crate::line::Line;

/// What lines say of a value each: a bit for each, the first in the lowest. Absent are the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) present: u64,
    pub(crate) onward: u64,
}

impl Answers {
    #[inline(always)]
    pub(super) fn add(&mut self, number: usize, found: Found) {
        self.present |= u64::from(found == Found::Present) << number;
        self.onward |= u64::from(found == Found::Onward) << number;
    }
}

/// Lines of a call at most.
pub(super) const MOST: usize = 64;

/// Lines, values and widths, in whole groups: the last ones repeat.
#[cfg(target_arch = "x86_64")]
pub(super) struct Padded<'a, const GROUP: usize, const GROUPS: usize> {
    pub(super) lines: [[&'a Line; GROUP]; GROUPS],
    pub(super) values: [[i64; GROUP]; GROUPS],
    pub(super) r: [[u32; GROUP]; GROUPS],
    count: usize,
}

#[cfg(target_arch = "x86_64")]
impl<'a, const GROUP: usize, const GROUPS: usize> Padded<'a, GROUP, GROUPS> {
    /// # Panics
    /// Unless there are as many of each, at least one and at most as many as in all groups.
    #[inline(always)]
    pub(super) fn of(lines: &[&'a Line], values: &[i64], r: &[u32]) -> Self {
        let last = lines.len() - 1;
        let mut padded = Padded {
            lines: [[lines[last]; GROUP]; GROUPS],
            values: [[values[last]; GROUP]; GROUPS],
            r: [[r[last]; GROUP]; GROUPS],
            count: lines.len(),
        };
        padded.lines.as_flattened_mut()[..=last].copy_from_slice(lines);
        padded.values.as_flattened_mut()[..=last].copy_from_slice(values);
        padded.r.as_flattened_mut()[..=last].copy_from_slice(r);
        padded
    }

    /// How many groups have one of them.
    #[inline(always)]
    pub(super) fn groups(&self) -> usize {
        self.count.div_ceil(GROUP)
    }

    /// The answers without those of repeated ones.
    #[inline(always)]
    pub(super) fn own(&self, all: Answers) -> Answers {
        let own = u64::MAX >> (MOST - self.count);
        Answers { present: all.present & own, onward: all.onward & own }
    }
}

/// One line after the other.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
pub(super) unsafe fn each<S: Select, const MIXED: bool>(
    lines: &[&Line],
    values: &[i64],
    r: &[u32],
) -> Answers {
    let mut answers = Answers::default();
    for (i, ((line, &value), &r)) in lines.iter().zip(values).zip(r).enumerate().take(64) {
        // SAFETY: the caller's promise.
        answers.add(i, unsafe { find::<S, MIXED>(line, value, r) });
    }
    answers
}
