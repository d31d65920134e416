//! A page of `pintle-web` in a real browser, over WebDriver.

mod driver;
mod page;
mod servers;
mod wire;

pub use driver::{Browser, Driver, Look};
pub use page::{ENTER, Page, TAB, accessibility};
pub use servers::{Everything, hostile, showcase};
