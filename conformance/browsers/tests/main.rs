//! Each feature of the page, in Chromium and Firefox.

/// Runs a test in both browsers. The page shows a server, and the test receives it.
macro_rules! in_browsers {
    ($($(#[$meta:meta])* async fn $name:ident($page:ident: &Page) of $target:expr; $body:block)*) => {
        $(mod $name {
            use super::*;

            async fn test(browser: Browser) {
                let page = Page::open(browser, Look::default(), $target).await;
                let $page = &page;
                $body
                page.close().await;
            }

            #[tokio::test]
            async fn in_chromium() {
                test(Browser::Chromium).await;
            }

            #[tokio::test]
            async fn in_firefox() {
                test(Browser::Firefox).await;
            }
        })*
    };
}

mod access;
mod calls;
mod hostile;
mod offers;
mod questions;
