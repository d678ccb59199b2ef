//! What every exported function does with what C hands it: pointers to slices, values to handles,
//! errors and panics to status numbers. All of it is imported by all files that C calls, so they do
//! it by `*`.

pub(super) use super::status::bloomline_status;
pub(super) use std::ffi::{c_char, c_void};

use super::status::{
    BLOOMLINE_ERR_INTERNAL, BLOOMLINE_ERR_NULL, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_OK,
    status_of,
};
use crate::Error;
use crate::os::room::Room;
use std::alloc::{Layout, alloc};
use std::any::Any;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::{NonNull, null_mut};

/// A status that is not `BLOOMLINE_OK`, on its way out.
pub(super) struct Failure(pub(super) bloomline_status);

/// A pointer was NULL where it must not be.
pub(super) const NULL: Failure = Failure(BLOOMLINE_ERR_NULL);

impl From<Error> for Failure {
    // Apart, since nearly every function needs it, and hardly ever.
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Failure {
        Failure(status_of(&error))
    }
}

/// Runs what may panic and answers with its status. What a panic leaves half done
/// is memory-safe, and the caller is told that the handle is only good for freeing.
pub(super) fn guard(body: impl FnOnce() -> Result<(), Failure>) -> bloomline_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => BLOOMLINE_OK,
        Ok(Err(Failure(status))) => status,
        Err(panic) => {
            forget(panic);
            BLOOMLINE_ERR_INTERNAL
        }
    }
}

/// What a panic had to say has been printed by now.
#[cold]
#[inline(never)]
fn forget(panic: Box<dyn Any + Send>) {
    drop(panic);
}

/// The same for a function that answers with a number: `fault` stands for a panic.
pub(super) fn guard_or<T>(fault: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        forget(panic);
        fault
    })
}

/// What C points at; `None` if NULL.
///
/// # Safety
/// `pointer` is NULL, or points at a live `T` that nobody writes during `'a`.
#[inline(always)]
pub(super) unsafe fn shared<'a, T>(pointer: *const T) -> Option<&'a T> {
    // SAFETY: the caller vouches for everything that is not NULL.
    unsafe { pointer.as_ref() }
}

/// What C points at, to be changed; `None` if NULL.
///
/// # Safety
/// `pointer` is NULL, or points at a live `T` that nobody else touches during `'a`.
#[inline(always)]
pub(super) unsafe fn exclusive<'a, T>(pointer: *mut T) -> Option<&'a mut T> {
    // SAFETY: the caller vouches for everything that is not NULL.
    unsafe { pointer.as_mut() }
}

/// What C points at, where NULL is an error.
///
/// # Safety
/// As for [`shared`].
pub(super) unsafe fn required<'a, T>(pointer: *const T) -> Result<&'a T, Failure> {
    // SAFETY: the same contract.
    unsafe { shared(pointer) }.ok_or(NULL)
}

/// A number about what C points at: `default` for NULL, and if a panic is in the way.
///
/// # Safety
/// As for [`shared`].
pub(super) unsafe fn read_or<T, N>(pointer: *const T, default: N, number: impl FnOnce(&T) -> N) -> N
where
    N: Copy,
{
    // SAFETY: the same contract.
    guard_or(default, || unsafe { shared(pointer) }.map_or(default, number))
}

/// Whether an array can be there.
#[inline(always)]
pub(super) fn is_there<T>(array: *const T) -> bool {
    !array.is_null() & array.is_aligned()
}

/// Writes to `out` what `get` gets of what C points at.
///
/// # Safety
/// As for [`shared`]; `out` is NULL or points at room for the result.
pub(super) unsafe fn write_result<T, U>(
    pointer: *const T,
    out: *mut U,
    get: impl FnOnce(&T) -> Result<U, Failure>,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: the same contract.
        let result = get(unsafe { required(pointer) }?)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(result) };
        Ok(())
    })
}

/// Changes what C points at.
///
/// # Safety
/// As for [`exclusive`].
pub(super) unsafe fn change<T>(
    pointer: *mut T,
    change: impl FnOnce(&mut T) -> Result<(), Failure>,
) -> bloomline_status {
    // SAFETY: the same contract.
    guard(|| change(unsafe { exclusive(pointer) }.ok_or(NULL)?))
}

/// What the thread rule of the header promises: compiles only for such a type.
pub(super) const fn shared_between_threads<T: Send + Sync>() {}

/// Where to put a result. Writing through it needs the caller's word that the
/// memory is there.
pub(super) fn output<T>(pointer: *mut T) -> Result<NonNull<T>, Failure> {
    NonNull::new(pointer).ok_or(NULL)
}

/// Whether `count` elements at `pointer` can be a slice at all: not NULL, aligned,
/// and no longer than memory.
#[inline(always)]
fn can_be_slice<T>(pointer: *const T, count: usize) -> bool {
    !pointer.is_null() && pointer.is_aligned() && count <= isize::MAX as usize / size_of::<T>()
}

/// An input array: empty for count 0, `None` for NULL (or what can be no array).
///
/// # Safety
/// Unless NULL, `pointer` points at `count` initialized elements that nobody writes
/// during `'a`.
#[inline(always)]
pub(super) unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> Option<&'a [T]> {
    if count == 0 {
        return Some(&[]);
    }
    if !can_be_slice(pointer, count) {
        return None;
    }
    // SAFETY: not NULL, aligned and not too long, by the check above; the caller
    // vouches for the elements.
    Some(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Input bytes: the same, at any alignment.
///
/// # Safety
/// As for [`slice`].
#[inline(always)]
pub(super) unsafe fn bytes<'a>(data: *const c_void, len: usize) -> Option<&'a [u8]> {
    // SAFETY: the same contract.
    unsafe { slice(data.cast::<u8>(), len) }
}

/// The path that C names: bytes as they are on Unix, UTF-8 elsewhere.
///
/// # Safety
/// `path` is NULL or NUL-terminated, and nobody writes it during `'a`.
pub(super) unsafe fn path_at<'a>(path: *const c_char) -> Result<&'a Path, Failure> {
    if path.is_null() {
        return Err(NULL);
    }
    // SAFETY: not NULL; the caller vouches for the NUL at the end.
    let path = unsafe { CStr::from_ptr(path) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
    }
    #[cfg(not(unix))]
    path.to_str().map(Path::new).map_err(|_| Failure(super::status::BLOOMLINE_ERR_IO))
}

/// Lines to insert into: bytes that keep their value.
///
/// # Safety
/// Unless NULL, `lines` points at `len` initialized bytes that nobody else touches
/// during `'a`.
pub(super) unsafe fn lines_at<'a>(lines: *mut c_void, len: usize) -> Option<&'a mut [u8]> {
    if len == 0 {
        return Some(&mut []);
    }
    if !can_be_slice(lines.cast::<u8>(), len) {
        return None;
    }
    // SAFETY: not NULL and not too long, by the check above; the caller vouches for the bytes.
    Some(unsafe { std::slice::from_raw_parts_mut(lines.cast::<u8>(), len) })
}

/// An output array, zeroed, so that it may have been uninitialized: empty for count
/// 0, `None` for NULL (or what can be no array).
///
/// # Safety
/// Unless NULL, `pointer` points at room for `count` elements that nobody else
/// touches during `'a`. All bits zero is a `T`.
pub(super) unsafe fn zeroed_slice<'a, T>(pointer: *mut T, count: usize) -> Option<&'a mut [T]> {
    if count == 0 {
        return Some(&mut []);
    }
    if !can_be_slice(pointer, count) {
        return None;
    }
    // SAFETY: not NULL, aligned and not too long, by the check above; the caller
    // vouches for the room. The elements are initialized before they are referred to.
    unsafe {
        pointer.write_bytes(0, count);
        Some(std::slice::from_raw_parts_mut(pointer, count))
    }
}

/// A bitmap for `count` answers, as [`zeroed_slice`].
///
/// # Safety
/// As for [`zeroed_slice`], for one word per 64 answers or part of them.
#[inline]
pub(super) unsafe fn bitmap_at<'a>(pointer: *mut u64, count: usize) -> Option<&'a mut [u64]> {
    // Most often there is one word: no loop for that.
    if (1..=64).contains(&count) && can_be_slice(pointer, 1) {
        // SAFETY: not NULL, and aligned, by the check; the caller vouches for the room.
        return Some(unsafe {
            pointer.write(0);
            std::slice::from_raw_parts_mut(pointer, 1)
        });
    }
    // SAFETY: the same contract; zero is a u64.
    unsafe { zeroed_slice(pointer, count.div_ceil(64)) }
}

/// Bitmaps of `words` words each for `n` keys, as [`zeroed_slice`].
///
/// # Safety
/// As for [`zeroed_slice`], for all words.
pub(super) unsafe fn bitmaps_at<'a>(
    pointer: *mut u64,
    words: usize,
    n: usize,
) -> Option<&'a mut [u64]> {
    // SAFETY: the same contract; zero is a u64.
    unsafe { zeroed_slice(pointer, words.checked_mul(n)?) }
}

/// `cap` bytes of output.
///
/// # Safety
/// `out` is NULL or has room for `cap` bytes that nobody else touches during `'a`.
pub(super) unsafe fn room_at<'a>(out: *mut c_void, cap: usize) -> Result<Room<'a>, Failure> {
    let bytes: &mut [MaybeUninit<u8>] = if cap == 0 {
        &mut []
    } else if can_be_slice(out.cast::<u8>(), cap) {
        // SAFETY: not NULL and not too long, by the check; the caller vouches for the room.
        unsafe { std::slice::from_raw_parts_mut(out.cast(), cap) }
    } else {
        return Err(NULL);
    };
    Ok(bytes.into())
}

/// Writes a value that the caller may not want to know.
///
/// # Safety
/// `out` is NULL or points at room for it.
pub(super) unsafe fn write_optional<T>(out: *mut T, number: T) {
    if !out.is_null() {
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(number) };
    }
}

/// Moves a value into memory of its own, to be handed to C. `Box::new` would end the
/// process when there is no memory; here it is an error.
pub(super) fn try_box<T>(value: T) -> Result<*mut T, Failure> {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: the layout is not of size zero, by the assertion.
    let memory = unsafe { alloc(Layout::new::<T>()) }.cast::<T>();
    if memory.is_null() {
        return Err(Failure(BLOOMLINE_ERR_OUT_OF_MEMORY));
    }
    // SAFETY: fresh memory of the layout of a `T`.
    unsafe { memory.write(value) };
    Ok(memory)
}

/// Gives C a handle to what `make` makes.
///
/// # Safety
/// `out` is NULL or points at room for a pointer.
pub(super) unsafe fn new_handle<T>(
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let handle = try_box(make()?)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(handle) };
        Ok(())
    })
}

/// Makes a handle of another kind of what is behind one that C gives up, which is set to NULL.
/// If there is no memory for it, nothing has happened.
///
/// # Safety
/// `handle` is NULL, or points at NULL or at a handle from [`try_box`] that is not used again,
/// and is this call's alone.
pub(super) unsafe fn convert_handle<T, U>(
    handle: *mut *mut T,
    into: impl FnOnce(T) -> U,
) -> Result<*mut U, Failure> {
    // SAFETY: the same contract.
    let handle = unsafe { exclusive(handle) }.filter(|handle| !handle.is_null()).ok_or(NULL)?;
    let room = try_box(MaybeUninit::<U>::uninit())?;
    // SAFETY: a handle from `try_box` is a box, and the caller gives it up. The room is as large
    // as what is written there, and is a box of it from then on.
    unsafe {
        let taken = Box::from_raw(std::mem::replace(handle, null_mut()));
        (*room).write(into(*taken));
    }
    Ok(room.cast())
}

/// Takes back and drops what [`try_box`] gave; NULL is a no-op.
///
/// # Safety
/// `pointer` is NULL, or came from [`try_box`] and is not used again.
pub(super) unsafe fn free<T>(pointer: *mut T) {
    if pointer.is_null() {
        return;
    }
    // A drop that panics has nobody to tell; the memory is then lost.
    guard_or((), || {
        // SAFETY: memory from the global allocator with the layout of a `T`, which
        // is what a Box is, and initialized by `try_box`; the caller gives it up.
        drop(unsafe { Box::from_raw(pointer) });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_need_a_pointer_an_alignment_and_a_possible_length() {
        let words = [1u64, 2, 3];
        let null = std::ptr::null::<u64>();
        let odd = words.as_ptr().wrapping_byte_add(1);
        // SAFETY: three words are there; everything else is refused before use.
        unsafe {
            assert_eq!(slice(words.as_ptr(), 3), Some(&words[..]));
            assert_eq!(slice(null, 0), Some(&[][..]));
            assert_eq!(slice(odd, 0), Some(&[][..]));
            assert_eq!(slice(null, 1), None);
            assert_eq!(slice(odd, 1), None);
            assert_eq!(slice(words.as_ptr(), usize::MAX / 8), None);
            assert_eq!(bytes(null.cast(), 0), Some(&[][..]));
            assert_eq!(bytes(null.cast(), 1), None);
            assert_eq!(bytes(odd.cast(), 4).map(<[u8]>::len), Some(4));
            assert!(bitmap_at(std::ptr::null_mut(), 0).is_some());
            assert!(bitmap_at(std::ptr::null_mut(), 1).is_none());
        }
    }

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guard(|| panic!("on purpose")), BLOOMLINE_ERR_INTERNAL);
        assert_eq!(guard_or(7, || panic!("on purpose")), 7);
        assert_eq!(guard(|| Ok(())), BLOOMLINE_OK);
        assert_eq!(guard(|| Err(NULL)), BLOOMLINE_ERR_NULL);
    }
}
