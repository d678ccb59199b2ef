//! The sizes of the CPU's caches, as the CPU or the system reports them: on x86-64 by the
//! instruction `cpuid`, on Linux otherwise by files below `/sys`. No allocation, no lock.
#![allow(unsafe_code)]

/// What a core has, in bytes; 0 for a cache that is not there, or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caches {
    /// The second level.
    pub(crate) l2: usize,
    /// The third level: all that the core reaches, other cores too.
    pub(crate) l3: usize,
}

impl Caches {
    /// Those of the core that runs this. Several instructions that a virtual machine may have to
    /// emulate, or several files: call it once.
    pub(crate) fn read() -> Caches {
        let mut caches = Caches::default();
        #[cfg(target_arch = "x86_64")]
        cpuid::each(|cache| caches.add(cache));
        #[cfg(all(any(target_os = "linux", target_os = "android"), not(target_arch = "x86_64")))]
        sys::each(|cache| caches.add(cache));
        let _ = &mut caches;
        caches
    }

    #[cfg_attr(not(any(test, target_arch = "x86_64", target_os = "linux")), allow(dead_code))]
    fn add(&mut self, cache: Cache) {
        match cache.level {
            2 => self.l2 = cache.bytes,
            3 => self.l3 = cache.bytes,
            _ => {}
        }
    }
}

/// A cache that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cache {
    level: u32,
    bytes: usize,
}

#[cfg(target_arch = "x86_64")]
mod cpuid {
    use super::Cache;
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    /// Calls `found` with each cache.
    pub(super) fn each(mut found: impl FnMut(Cache)) {
        // Intel's leaf, and AMD's of the same form. Each has zeros, or nothing, on the CPUs of the
        // other. (`unused_unsafe`: newer compilers know that every x86-64 CPU has cpuid.)
        #[allow(unused_unsafe)]
        for (leaves, leaf) in [(0, 4), (0x8000_0000, 0x8000_001D)] {
            // SAFETY: every x86-64 CPU has the instruction, and it changes nothing.
            let last = unsafe { __cpuid(leaves) }.eax;
            if last < leaf {
                continue;
            }
            // No CPU has as many, so a hypervisor that answers anything does not hold us up.
            for index in 0..16 {
                // SAFETY: as above.
                let answer = unsafe { __cpuid_count(leaf, index) };
                match answer.eax & 31 {
                    0 => break,
                    2 => {}
                    _ => found(cache(answer.eax, answer.ebx, answer.ecx)),
                }
            }
        }
    }

    /// What these registers say. All but the level are one less than meant.
    pub(super) fn cache(eax: u32, ebx: u32, ecx: u32) -> Cache {
        let one_more = |value: u32| value as usize + 1;
        let (line, parts, ways) = (ebx & 0xFFF, ebx >> 12 & 0x3FF, ebx >> 22);
        let sizes = [line, parts, ways, ecx].map(one_more);
        let bytes = sizes.iter().fold(1, |all: usize, &size| all.saturating_mul(size));
        Cache { level: eax >> 5 & 7, bytes }
    }
}

#[cfg(any(
    test,
    all(any(target_os = "linux", target_os = "android"), not(target_arch = "x86_64"))
))]
#[cfg_attr(test, allow(dead_code))]
mod sys {
    use super::Cache;
    use std::fs::File;
    use std::io::Read;

    /// Calls `found` with each cache of the first core.
    pub(super) fn each(mut found: impl FnMut(Cache)) {
        // Each path is short enough that it is not copied to the heap.
        let mut path = *b"/sys/devices/system/cpu/cpu0/cache/index0/";
        let digit = path.len() - 2;
        for index in 0..8 {
            path[digit] = b'0' + index;
            let [level, kind, size] = ["level", "type", "size"].map(|name| {
                let mut file = [0; 64];
                let (start, end) = (path.len(), path.len() + name.len());
                file[..start].copy_from_slice(&path);
                file[start..end].copy_from_slice(name.as_bytes());
                first_bytes(str::from_utf8(&file[..end]).ok()?)
            });
            match (level, kind, size) {
                (Some(level), Some(kind), Some(size)) => {
                    cache(&level, &kind, &size).into_iter().for_each(&mut found);
                }
                _ => break,
            }
        }
    }

    /// The first bytes of a file, zeros behind it.
    fn first_bytes(path: &str) -> Option<[u8; 16]> {
        let mut text = [0; 16];
        // One read is all of such a file; what is missing stays zero.
        let read = File::open(path).ok()?.read(&mut text);
        read.is_ok().then_some(text)
    }

    /// What three of these files say: a number; `Data`, `Instruction` or `Unified`; `1024K`.
    pub(super) fn cache(level: &[u8], kind: &[u8], size: &[u8]) -> Option<Cache> {
        let (level, _) = number(level);
        let (bytes, unit) = number(size);
        let scale = match unit {
            b'K' => 1 << 10,
            b'M' => 1 << 20,
            _ => 1,
        };
        let bytes = bytes.saturating_mul(scale);
        (kind.first() != Some(&b'I')).then_some(Cache { level: level as u32, bytes })
    }

    /// The number that a text begins with, and the byte behind it.
    fn number(text: &[u8]) -> (usize, u8) {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        let value = digits.clone().fold(0usize, |value, digit| {
            value.saturating_mul(10).saturating_add((digit - b'0').into())
        });
        (value, text.get(digits.count()).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn registers_say_level_and_size() {
        let kib = |level, size: usize| Cache { level, bytes: size << 10 };
        // L2 and L3 of a Zen 4: 8 and 16 ways of 2048 and 32768 lines. L2 of a Xeon with 16 ways.
        assert_eq!(cpuid::cache(0x4143, 0x01C0_003F, 0x7FF), kib(2, 1024));
        assert_eq!(cpuid::cache(0x3C163, 0x03C0_003F, 0x7FFF), kib(3, 32 << 10));
        assert_eq!(cpuid::cache(0x1C004143, 0x03C0_003F, 0x3FF), kib(2, 1024));
        // Two partitions count twice; the largest of all values is no overflow.
        assert_eq!(cpuid::cache(0x21, 0x0000_1000 | 63, 0), Cache { level: 1, bytes: 128 });
        assert!(cpuid::cache(u32::MAX, u32::MAX, u32::MAX).bytes > 1 << 40);
    }

    #[test]
    fn files_say_level_and_size() {
        let cache = |level: &str, kind: &str, size: &str| {
            sys::cache(level.as_bytes(), kind.as_bytes(), size.as_bytes())
        };
        assert_eq!(
            cache("2\n\0", "Unified\n", "1024K\n\0"),
            Some(Cache { level: 2, bytes: 1 << 20 })
        );
        assert_eq!(cache("3", "Unified", "36M"), Some(Cache { level: 3, bytes: 36 << 20 }));
        assert_eq!(cache("1", "Data", "512"), Some(Cache { level: 1, bytes: 512 }));
        assert_eq!(cache("1", "Instruction", "32K"), None);
        // Nothing known.
        assert_eq!(cache("", "", ""), Some(Cache { level: 0, bytes: 0 }));
        assert_eq!(cache("2", "Unified", "99999999999999999999K").unwrap().bytes, usize::MAX);
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn instruction_and_files_agree() {
        let mut from_files = Caches::default();
        sys::each(|cache| from_files.add(cache));
        // A container may hide the files.
        if from_files != Caches::default() {
            assert_eq!(Caches::read(), from_files);
        }
    }
}
