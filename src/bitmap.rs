//! Answers to a batch: a bit each.

use std::fmt;
use std::ops::Index;

/// What a batch writes its answers to, a bit each: `[u64]`, `[u64; N]`, `Vec<u64>`, or [`Bitmap`].
///
/// Answer `i` is bit `i % 64` of word `i / 64`, counted from the lowest. Bits past the last
/// answer, in its word, become zero. A [`Bitmap`] takes the size of the batch. The others keep
/// theirs: the batch panics if they have fewer than `answers.div_ceil(64)` words, before it probes
/// or changes anything, and leaves further words alone.
///
/// The trait is sealed.
///
/// ```
/// let filter = bloomline::Filter::from_keys(["apple"], 0.01)?;
/// let mut word = [0u64; 1]; // room for 64 answers
/// filter.contains_keys(&["apple", "pear"], &mut word);
/// assert_eq!(word[0] & 1, 1);
/// # Ok::<(), bloomline::Error>(())
/// ```
pub trait Answers: AnswerWords {}

impl<A: AnswerWords + ?Sized> Answers for A {}

/// What seals [`Answers`]: nobody outside can name it.
pub trait AnswerWords {
    /// The words of so many answers, no more.
    ///
    /// # Panics
    /// If there are fewer.
    fn words(&mut self, answers: usize) -> &mut [u64];
}

/// The answers of so many rows of so many words, in bits.
///
/// # Panics
/// If they are more than a `usize` counts, which only 32 bits can be too few for.
#[inline]
pub(crate) fn answers_of_rows(words: usize, rows: usize) -> usize {
    let bits = words.checked_mul(64).and_then(|bits| bits.checked_mul(rows));
    bits.expect("the answers to one batch are at most usize::MAX: ask in parts")
}

/// The numbers of the bits that are set, in order.
fn set_bits(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(at, word)| {
        let rest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(word).filter(|&word| word != 0), rest)
            .map(move |word| 64 * at + word.trailing_zeros() as usize)
    })
}

/// Sets the bits of so many answers, each "maybe". Returns how many.
pub(crate) fn all_present(count: usize, bitmap: &mut [u64]) -> usize {
    for (i, word) in bitmap.words(count).iter_mut().enumerate() {
        let left = count - 64 * i;
        *word = if left < 64 { (1 << left) - 1 } else { u64::MAX };
    }
    count
}

impl AnswerWords for [u64] {
    #[inline]
    fn words(&mut self, answers: usize) -> &mut [u64] {
        let (words, len) = (answers.div_ceil(64), self.len());
        if words > len {
            too_few(answers, words, len);
        }
        &mut self[..words]
    }
}

/// Apart, so that a short batch saves no registers for it.
#[cold]
#[inline(never)]
fn too_few(answers: usize, words: usize, len: usize) -> ! {
    panic!("{answers} answers take {words} words, and there are {len}");
}

impl<const N: usize> AnswerWords for [u64; N] {
    #[inline]
    fn words(&mut self, answers: usize) -> &mut [u64] {
        self.as_mut_slice().words(answers)
    }
}

impl AnswerWords for Vec<u64> {
    #[inline]
    fn words(&mut self, answers: usize) -> &mut [u64] {
        self.as_mut_slice().words(answers)
    }
}

impl AnswerWords for Bitmap {
    #[inline]
    fn words(&mut self, answers: usize) -> &mut [u64] {
        // A few keys again after a few others, without a call.
        match (&mut self.words[..], answers) {
            ([word], 1..=64) => *word = 0,
            _ => self.resize(answers.div_ceil(64)),
        }
        self.len = answers;
        &mut self.words
    }
}

/// The answers to a batch. Every batch gives it the length of its own, so that one `Bitmap` serves
/// many batches.
///
/// ```
/// use bloomline::{Bitmap, Filter, Params};
///
/// let mut filter = Filter::new(Params::for_rate(1000, 0.01)?)?;
/// filter.insert("apple");
///
/// let keys = ["apple", "pear", "plum"];
/// let mut present = Bitmap::new();
/// filter.contains_keys(&keys, &mut present);
/// assert!(present[0]);
/// for i in present.ones() {
///     println!("{} may be present", keys[i]);
/// }
/// assert!(present.zeros().all(|i| keys[i] != "apple")); // these are definitely absent
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    /// In bits. Those of the last word that are past it are zero.
    len: usize,
}

impl Bitmap {
    /// Creates an empty bitmap.
    pub const fn new() -> Bitmap {
        Bitmap { words: Vec::new(), len: 0 }
    }

    /// Makes it so many words, all zero.
    #[inline(never)]
    fn resize(&mut self, words: usize) {
        self.words.clear();
        self.words.resize(words, 0);
    }

    /// Returns how many answers there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no answers.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns answer `i`, or `None` past the last.
    #[inline]
    pub fn get(&self, i: usize) -> Option<bool> {
        (i < self.len).then(|| self.words[i / 64] >> (i % 64) & 1 == 1)
    }

    /// Returns how many answers are true.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the numbers of the answers that are true, in order.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        set_bits(self.words.iter().copied())
    }

    /// Returns the numbers of the answers that are false, in order. In answers in rows, as those of a
    /// [`Group`](crate::Group), the bits behind the last answer of a row are among them.
    pub fn zeros(&self) -> impl Iterator<Item = usize> + '_ {
        set_bits(self.words.iter().map(|word| !word)).take_while(|&i| i < self.len)
    }

    /// Returns all answers, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = bool> + ExactSizeIterator + '_ {
        (0..self.len).map(|i| self[i])
    }

    /// Returns the words, 64 answers each, as [`Answers`] says.
    pub fn as_words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the words without a copy.
    pub fn into_words(self) -> Vec<u64> {
        self.words
    }
}

impl Index<usize> for Bitmap {
    type Output = bool;

    /// Returns answer `i`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    fn index(&self, i: usize) -> &bool {
        let (answer, len) = (self.get(i), self.len);
        if answer.unwrap_or_else(|| panic!("answer {i} of {len}")) { &true } else { &false }
    }
}

impl FromIterator<bool> for Bitmap {
    fn from_iter<I: IntoIterator<Item = bool>>(answers: I) -> Bitmap {
        let mut bitmap = Bitmap::new();
        for answer in answers {
            let (word, bit) = (bitmap.len / 64, bitmap.len % 64);
            if bit == 0 {
                bitmap.words.push(0);
            }
            bitmap.words[word] |= u64::from(answer) << bit;
            bitmap.len += 1;
        }
        bitmap
    }
}

impl fmt::Debug for Bitmap {
    /// The length, and which answers are true.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Ones<'a>(&'a Bitmap);
        impl fmt::Debug for Ones<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.0.ones()).finish()
            }
        }
        f.debug_struct("Bitmap").field("len", &self.len).field("ones", &Ones(self)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::all_present;

    #[test]
    fn a_batch_that_cannot_be_probed_is_all_present() {
        for count in 0..=200usize {
            let mut words = vec![0; count.div_ceil(64)];
            assert_eq!(all_present(count, &mut words), count);
            for i in 0..words.len() * 64 {
                assert_eq!(words[i / 64] >> (i % 64) & 1 == 1, i < count, "bit {i} of {count}");
            }
        }
    }
}
