//! From the words of an opened filter to its kernel.

use super::choice::Kernels;
use super::functions::Kernel;
use super::shared::Probed;
use super::single::Single;
use super::table::{CLASSES, FEW};
#[cfg(doc)]
use super::words::STRIDE;
use super::words::Words;

/// What words lead to.
pub(crate) struct OfWords<'a> {
    pub(crate) lines: Probed<'a>,
    pub(crate) single: Single<'a>,
    pub(crate) kernel: &'static Kernel,
}

impl Words {
    /// Answers for up to 64 filters whether they may have one key, by its hash: the first in the lowest
    /// bit of `answers`. Returns how many may; none if they are not all alike, or not all sound: then
    /// ask one after the other.
    ///
    /// The bits of a key in its line are the same in all filters of one k. So they are computed once,
    /// and each filter has only to find its line and compare.
    ///
    /// # Safety
    /// `words` are the first of `count`, [`STRIDE`] bytes behind each other; as for [`Probed::at`],
    /// of those that are sound.
    #[inline(always)]
    pub(crate) unsafe fn answer(
        words: *const Words,
        count: usize,
        hash: u64,
        answers: &mut u64,
    ) -> Option<usize> {
        // SAFETY: the same contract.
        let first = unsafe { &*words };
        let kernel = Kernels::chosen()?.numbered(first.kernel())?;
        let calls = kernel.calls(first.detail());
        // SAFETY: this CPU runs the kernel, since it exists; the same contract.
        let present = unsafe { (calls.views)(words, count, hash, calls.contains, answers) };
        (present <= count).then_some(present)
    }

    /// Answers a few keys, 1 to [`KEY_BY_KEY`](super::prefetch::KEY_BY_KEY), into a word, and returns how many
    /// may be present. Nothing if these words are not sound.
    ///
    /// # Safety
    /// As for [`Words::open`].
    #[inline(always)]
    pub(crate) unsafe fn contains_few(&self, hashes: &[u64], word: &mut u64) -> Option<usize> {
        if !self.are_sound() {
            return None;
        }
        let backends = FEW.get(usize::from(self.kernel()))?;
        // SAFETY: there is a row for each backend, and for none, in which all keys may be present. Detection found
        // the backend, and the function is of the kernel and the k that the lines are probed with.
        unsafe {
            let classes = backends.get_unchecked(Kernels::chosen_number());
            let few = classes[usize::from(CLASSES[self.detail() as usize & 0xFF] & 3)];
            Some(self.single.few(few, hashes, word))
        }
    }

    /// The kernel, if these words are sound, and not of a filter made of filters.
    #[inline(always)]
    pub(crate) fn listed_kernel(&self) -> Option<&'static Kernel> {
        if self.are_sound() { self.kernel_in_table() } else { None }
    }

    #[inline(always)]
    fn kernel_in_table(&self) -> Option<&'static Kernel> {
        // Words exist only after kernels were chosen.
        Kernels::chosen()?.numbered(self.kernel())
    }

    /// The lines, if these words are sound.
    ///
    /// # Safety
    /// As for [`Probed::at`], if they are.
    #[inline(always)]
    pub(crate) unsafe fn open<'a>(&self) -> Option<OfWords<'a>> {
        if !self.are_sound() {
            return None;
        }
        let kernel = match self.kernel_in_table() {
            Some(kernel) => kernel,
            // SAFETY: all other words that are sound are of a filter made of filters.
            None => unsafe { self.single.own_kernel() },
        };
        let lines = self.single.probed(kernel.line_log2(self.detail()));
        Some(OfWords { lines, single: self.single, kernel })
    }
}
