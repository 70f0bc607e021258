//! **What may happen.** Identity, money, states, decisions and words of Counterfoil.
//!
//! Nothing in this crate does I/O, reads a clock or rolls dice: `now`, ids and everything that was seen outside come in as
//! arguments, and what ought to be written or done comes out as values. The server carries them out.
//!
//! From the ground up: [`identity`] [`money`] [`window`] → [`intent`] [`kind`] [`evidence`] → [`attempt`] → [`state`] →
//! [`entry`] [`operation`] → [`decide`] [`balance`] [`totals`] [`chain`] → [`words`]. Nothing points back up.

pub mod alarm;
pub mod attempt;
pub mod balance;
pub mod chain;
pub mod decide;
pub mod entry;
pub mod evidence;
pub mod identity;
pub mod intent;
pub mod kind;
pub mod money;
pub mod operation;
pub mod state;
pub mod totals;
pub mod window;
pub mod words;
