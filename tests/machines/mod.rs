//! Other machines: lists and commands with their mirrors, synchronization, changes there, and connections that fail. The
//! machines are home directories of this one.

mod changes;
mod cuts;
mod lists;
mod remote;
mod ssh;
mod sync;
mod world;
