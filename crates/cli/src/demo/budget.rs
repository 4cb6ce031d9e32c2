//! Whether a demo fits into memory, decided before it begins.

use crate::failure::Failure;

/// What the program needs without any pod.
const BASE: u64 = 64 << 20;

/// What a pod needs: the server's copy, what is sent of it, the cache's copy, and the handlers'
/// records. Measured with a million pods.
const POD: u64 = 13_500;

/// What a packed pod needs. Measured with 100,000 pods.
const PACKED_POD: u64 = 5_000;

/// The memory of a demo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pods: u32,
    /// What each pod needs.
    each: u64,
}

impl Budget {
    pub(super) fn new(pods: u32, packed: bool) -> Self {
        let each = if packed { PACKED_POD } else { POD };
        Self { pods, each }
    }

    /// What the demo needs, in bytes.
    fn needed(self) -> u64 {
        BASE + self.each * u64::from(self.pods)
    }

    /// The estimate in a line for a person.
    pub(super) fn estimate(self, available: Option<u64>) -> String {
        let (pods, needed) = (self.pods, mebibytes(self.needed()));
        match available {
            Some(available) => {
                let available = mebibytes(available);
                format!(
                    "{pods} pods need about {needed} MiB of memory; {available} MiB are available"
                )
            }
            None => format!("{pods} pods need about {needed} MiB of memory"),
        }
    }

    /// Refuses a demo that does not fit. Where `available` is unknown, every demo may begin.
    pub(super) fn check(self, available: Option<u64>) -> Result<(), Failure> {
        let Some(available) = available.filter(|available| *available < self.needed()) else {
            return Ok(());
        };
        let what = format!("not enough memory: {}", self.estimate(Some(available)));
        let fits = available.saturating_sub(BASE) / self.each;
        let advice = match fits {
            0 => "Free some memory; --ignore-memory tries without.".to_owned(),
            fits => format!("--objects {fits} fits; --ignore-memory tries all the same."),
        };
        Err(Failure::setup(what).advise(advice))
    }
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(pods: u32) -> Budget {
        Budget::new(pods, false)
    }

    #[test]
    fn a_demo_that_does_not_fit_is_refused_with_what_fits() {
        let error = typed(1_000_000).check(Some(8 << 30));
        let text = error.expect_err("8 GiB are too little").to_string();
        let expected = "error: not enough memory: \
            1000000 pods need about 12938 MiB of memory; 8192 MiB are available\n  \
            --objects 631320 fits; --ignore-memory tries all the same.";
        assert_eq!(text, expected);
        assert!(typed(631_320).check(Some(8 << 30)).is_ok());
        assert!(typed(631_321).check(Some(8 << 30)).is_err());
        let packed = Budget::new(1_000_000, true);
        assert!(packed.check(Some(8 << 30)).is_ok(), "packed pods need less");
    }

    #[test]
    fn without_any_memory_nothing_fits() {
        let error = typed(1).check(Some(0)).expect_err("nothing is available");
        assert!(error.to_string().contains("Free some memory"), "{error}");
    }

    #[test]
    fn a_demo_that_fits_or_cannot_be_judged_begins() {
        let million = typed(1_000_000);
        assert!(million.check(Some(million.needed())).is_ok());
        assert!(typed(u32::MAX).check(None).is_ok());
        assert_eq!(
            typed(1).estimate(None),
            "1 pods need about 64 MiB of memory"
        );
    }
}
