//! Tickets for background work. The requester holds a [`Claim`]; the work and its replies carry the [`Ticket`].
//!
//! Dropping the claim cancels the work: it stops, and replies that still arrive are discarded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// The part of a ticket that work and replies carry.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Consecutive number.
    pub number: u64,
    /// The flag of the claim, which exists while the claim is held.
    stopped: Weak<AtomicBool>,
}

/// The requester's part of a ticket; dropping it cancels the work.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The number of the ticket.
    pub number: u64,
    /// `true` if the work was asked to stop.
    stopped: Arc<AtomicBool>,
}

impl Ticket {
    /// Creates a ticket and its claim.
    pub fn new(number: u64) -> (Claim, Self) {
        let stopped = Arc::default();
        let ticket = Self { number, stopped: Arc::downgrade(&stopped) };
        (Claim { number, stopped }, ticket)
    }

    /// Returns `true` while the claim is held.
    pub fn is_wanted(&self) -> bool {
        self.stopped.strong_count() > 0
    }

    /// Returns `true` if the work should stop: its claim was dropped, or [`Claim::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.stopped.upgrade().is_none_or(|stopped| stopped.load(Ordering::Relaxed))
    }
}

impl Claim {
    /// Asks the work to stop. Its result is still delivered.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the work was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_claim_cancels_the_work() {
        let (claim, ticket) = Ticket::new(7);
        let at_work = ticket.clone();
        assert!(ticket.is_wanted() && !at_work.is_stopped());
        claim.stop();
        assert!(ticket.is_wanted() && at_work.is_stopped() && claim.is_stopped());
        drop(claim);
        assert!(!ticket.is_wanted() && at_work.is_stopped());
    }
}
