//! Whether a demo fits into memory, decided before it begins.

use crate::failure::Failure;

/// What the program needs without any pod.
const BASE: u64 = 64 << 20;

/// What a pod needs: the server's copy, what is sent of it, the cache's copy, and the handlers'
/// records. Measured with a million pods.
const POD: u64 = 13_500;

/// What a demo with this number of pods needs, in bytes.
pub(super) fn needed(pods: u32) -> u64 {
    BASE + POD * u64::from(pods)
}

/// The estimate in a line for a person.
pub(super) fn estimate(pods: u32, available: Option<u64>) -> String {
    let needed = mebibytes(needed(pods));
    match available {
        Some(available) => {
            let available = mebibytes(available);
            format!("{pods} pods need about {needed} MiB of memory; {available} MiB are available")
        }
        None => format!("{pods} pods need about {needed} MiB of memory"),
    }
}

/// Refuses a demo that does not fit. Where `available` is unknown, every demo may begin.
pub(super) fn check(pods: u32, available: Option<u64>) -> Result<(), Failure> {
    let Some(available) = available.filter(|available| *available < needed(pods)) else {
        return Ok(());
    };
    let what = format!("not enough memory: {}", estimate(pods, Some(available)));
    let fits = available.saturating_sub(BASE) / POD;
    let advice = match fits {
        0 => "Free some memory; --ignore-memory tries without.".to_owned(),
        fits => format!("--objects {fits} fits; --ignore-memory tries all the same."),
    };
    Err(Failure::setup(what).advise(advice))
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_that_does_not_fit_is_refused_with_what_fits() {
        let error = check(1_000_000, Some(8 << 30)).expect_err("8 GiB are too little");
        let text = error.to_string();
        let expected = "error: not enough memory: \
            1000000 pods need about 12938 MiB of memory; 8192 MiB are available\n  \
            --objects 631320 fits; --ignore-memory tries all the same.";
        assert_eq!(text, expected);
        assert!(check(631_320, Some(8 << 30)).is_ok());
        assert!(check(631_321, Some(8 << 30)).is_err());
    }

    #[test]
    fn without_any_memory_nothing_fits() {
        let error = check(1, Some(0)).expect_err("nothing is available");
        assert!(error.to_string().contains("Free some memory"), "{error}");
    }

    #[test]
    fn a_demo_that_fits_or_cannot_be_judged_begins() {
        assert!(check(1_000_000, Some(needed(1_000_000))).is_ok());
        assert!(check(u32::MAX, None).is_ok());
        assert_eq!(estimate(1, None), "1 pods need about 64 MiB of memory");
    }
}
