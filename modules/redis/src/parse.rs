//! Numbers in arguments, as the server's own commands read them.

/// An integer: digits, after a minus if it is negative, and nothing else. No zero is before others.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if !digits.iter().all(u8::is_ascii_digit) || (digits.starts_with(b"0") && text != b"0") {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The same from 0 to 2^64 - 1.
pub(crate) fn unsigned(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A number that may have a fraction; not "nan", nor one too large or too small for its type.
pub(crate) fn real(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let number: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let too_small = number == 0.0 && mantissa.contains(|digit| matches!(digit, '1'..='9'));
    let too_large = number.is_infinite() && text.contains(|digit: char| digit.is_ascii_digit());
    (!number.is_nan() && !too_small && !too_large).then_some(number)
}

/// An integer from `least` to `most`.
pub(crate) fn within(text: &[u8], least: u64, most: u64) -> Option<u64> {
    integer(text).and_then(|n| u64::try_from(n).ok()).filter(|n| (least..=most).contains(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_digits_alone() {
        assert_eq!(integer(b"-12"), Some(-12));
        assert_eq!(integer(b"9223372036854775807"), Some(i64::MAX));
        for text in [
            "",
            "-",
            "+1",
            " 1",
            "1 ",
            "1.0",
            "0x1",
            "01",
            "-0",
            "-01",
            "00",
            "9223372036854775808",
            "\u{663}",
        ] {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"-1"), None);
        assert_eq!(unsigned(b""), None);
        assert_eq!(within(b"0", 1, 5), None);
        assert_eq!(within(b"5", 1, 5), Some(5));
    }

    #[test]
    fn reals_are_numbers() {
        assert_eq!(real(b"1e-3"), Some(0.001));
        assert_eq!(real(b"0e5"), Some(0.0));
        assert_eq!(real(b"-inf"), Some(f64::NEG_INFINITY));
        for text in ["", "nan", "NaN", "1,5", " 1", "abc", "1e-400", "-2.5e999"] {
            assert_eq!(real(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_rate_is_written_such_that_it_is_read_again() {
        for rate in [0.01, 1.0 / 3.0, 1e-7, f64::MIN_POSITIVE] {
            assert_eq!(real(format!("{rate:e}").as_bytes()), Some(rate));
        }
    }
}
