//! Bugs on request, in builds for tests and fuzz targets only.
//!
//! The proofs have to be able to fail: `proof::planted` switches on one bug after the other
//! and shows that the very same checks find it. Elsewhere nothing of this exists.

/// Whether a bug is planted: `planted!(self, Bug)`; or what it does: `planted!(self, Bug => ..)`.
#[cfg(any(test, fuzzing))]
macro_rules! planted {
    ($core:expr, $bug:ident) => {
        $core.planted == Some(crate::proof::Planted::$bug)
    };
    ($core:expr, $bug:ident => $effect:expr) => {
        if planted!($core, $bug) {
            $effect
        }
    };
}

#[cfg(not(any(test, fuzzing)))]
macro_rules! planted {
    ($core:expr, $bug:ident) => {
        false
    };
    ($core:expr, $bug:ident => $effect:expr) => {};
}

/// Whether a bug of the shell is planted. All threads of a schedule are one to the system, so the
/// switch belongs to the thread.
#[cfg(all(test, shuttle))]
macro_rules! racy {
    ($bug:ident) => {
        crate::schedules::is_planted(crate::schedules::Planted::$bug)
    };
}

#[cfg(not(all(test, shuttle)))]
macro_rules! racy {
    ($bug:ident) => {
        false
    };
}
