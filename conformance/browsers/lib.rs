//! A page of `pintle-web` in a real browser, over WebDriver.

mod driver;
mod page;
mod servers;

pub use driver::{Browser, Look};
pub use page::{Page, accessibility};
pub use servers::{hostile, showcase};
