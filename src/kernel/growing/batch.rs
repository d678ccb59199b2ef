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

/// Eight lines at once, if their remainders are of one width.
///
/// # Safety
/// This CPU has the instructions.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt"
)]
pub(super) unsafe fn eights<const MIXED: bool>(
    lines: &[&Line],
    values: &[i64],
    r: &[u32],
) -> Answers {
    use super::avx512::{GROUP, find as find_eight};
    use super::select::Pdep;
    use super::width::width;
    let mut answers = Answers::default();
    let (groups, rest) = lines.as_chunks::<GROUP>();
    let mut first = 0;
    for lines in groups {
        let (Some(values), Some(r)) =
            (values[first..].first_chunk(), r[first..].first_chunk::<GROUP>())
        else {
            break;
        };
        if *r == [r[0]; GROUP] && r[0] > 0 {
            // SAFETY: the caller's promise.
            let eight = unsafe { find_eight::<MIXED>(lines, values, r[0], width(r[0])) };
            answers.present |= u64::from(eight.present) << first;
            answers.onward |= u64::from(eight.last & !eight.many) << first;
            let mut many = eight.many;
            while many > 0 {
                let i = many.trailing_zeros() as usize;
                answers.present &= !(1 << (first + i));
                // SAFETY: the caller's promise.
                let found = unsafe { find::<Pdep, MIXED>(lines[i], values[i], r[i]) };
                answers.add(first + i, found);
                many &= many - 1;
            }
        } else {
            // SAFETY: the caller's promise.
            let found = unsafe { each::<Pdep, MIXED>(lines, values, r) };
            answers.present |= found.present << first;
            answers.onward |= found.onward << first;
        }
        first += GROUP;
    }
    if !rest.is_empty() {
        // SAFETY: the caller's promise.
        let found = unsafe { each::<Pdep, MIXED>(rest, &values[first..], &r[first..]) };
        answers.present |= found.present << first;
        answers.onward |= found.onward << first;
    }
    answers
}
