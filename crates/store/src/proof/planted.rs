//! Defects that can be switched on, each of which the checks must find.

/// A defect of the store, named by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// A deleted key stays in its index buckets (FM-51).
    DeleteForgetsIndex,
    /// An update files the new values and keeps the old (IX-04).
    UpdateKeepsOldValues,
    /// A replacement of one namespace wipes the others (FM-14).
    ReplaceIgnoresScope,
    /// Of several entries with one key the first wins (ST-05).
    FirstDuplicateWins,
    /// An index added later is not filled (FM-60).
    IndexNotFilled,
    /// Every operation of a batch is published by itself (STX-4).
    BatchIsTorn,
    /// A query takes keys from one state and objects from another (STX-4).
    QueryLooksTwice,
}
