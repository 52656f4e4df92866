//! Tickets: how work is asked for, dropped and stopped. Who asks holds a [`Claim`], the work and its replies carry the
//! [`Ticket`]. When the claim is dropped, or another one takes its place, nobody wants the work any more: it stops, and
//! replies that are still on their way are dropped where they arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a piece of work and its replies carry.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Which one: they are counted.
    pub number: u64,
    state: Arc<TicketState>,
}

#[derive(Debug, Default)]
struct TicketState {
    is_dropped: AtomicBool,
    is_stopped: AtomicBool,
}

impl Ticket {
    /// A ticket and the claim on it, of this number.
    pub fn new(number: u64) -> (Claim, Self) {
        let ticket = Self { number, state: Arc::default() };
        (Claim(ticket.clone()), ticket)
    }

    /// Whether somebody waits for replies.
    pub fn is_wanted(&self) -> bool {
        !self.state.is_dropped.load(Ordering::Relaxed)
    }

    /// Whether the work shall end where it can: nobody wants it, or somebody wants to know how far it came.
    pub fn is_stopped(&self) -> bool {
        !self.is_wanted() || self.state.is_stopped.load(Ordering::Relaxed)
    }
}

/// What the one holds who waits for the work.
#[derive(Debug)]
pub struct Claim(Ticket);

impl Claim {
    /// The number of the ticket.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Lets the work end where it can. How far it came is still told.
    pub fn stop(&self) {
        self.0.state.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to end.
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
    fn work_is_wanted_as_long_as_its_claim_is_held() {
        let (claim, ticket) = Ticket::new(7);
        let at_work = ticket.clone();
        assert!(ticket.is_wanted() && !at_work.is_stopped());
        claim.stop();
        assert!(ticket.is_wanted() && at_work.is_stopped() && claim.is_stopped());
        drop(claim);
        assert!(!ticket.is_wanted() && at_work.is_stopped());
    }
}
