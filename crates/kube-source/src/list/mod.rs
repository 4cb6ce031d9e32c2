//! A list: its answer is cut as it arrives, into the frame and the items of a page.

pub(crate) mod arriving;
pub(crate) mod body;
pub(crate) mod cut;
pub(crate) mod items;
pub(crate) mod message_cut;
pub(crate) mod message_page;
pub(crate) mod page;
