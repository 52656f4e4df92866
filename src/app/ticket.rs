//! Tickets for background work. The requester holds a [`Claim`]; the work and its replies carry the [`Ticket`].
//!
//! Dropping the claim cancels the work: it stops, and replies that still arrive are discarded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The part of a ticket that work and replies carry.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Consecutive number.
    pub number: u64,
    state: Arc<TicketState>,
}

#[derive(Debug, Default)]
struct TicketState {
    is_dropped: AtomicBool,
    is_stopped: AtomicBool,
}

impl Ticket {
    /// Creates a ticket and its claim.
    pub fn new(number: u64) -> (Claim, Self) {
        let ticket = Self { number, state: Arc::default() };
        (Claim(ticket.clone()), ticket)
    }

    /// Returns `true` while the claim is held.
    pub fn is_wanted(&self) -> bool {
        !self.state.is_dropped.load(Ordering::Relaxed)
    }

    /// Returns `true` if the work should stop: its claim was dropped, or [`Claim::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        !self.is_wanted() || self.state.is_stopped.load(Ordering::Relaxed)
    }
}

/// The requester's part of a ticket; dropping it cancels the work.
#[derive(Debug)]
pub struct Claim(Ticket);

impl Claim {
    /// Returns the number of the ticket.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Asks the work to stop. Its result is still delivered.
    pub fn stop(&self) {
        self.0.state.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the work was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.state.is_dropped.store(true, Ordering::Relaxed);
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
