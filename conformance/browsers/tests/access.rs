//! Access: names of controls, contrast, headings, keyboards, narrow windows.

use pintle_browsers::{Driver, ENTER, Look, Page, TAB, accessibility, showcase};
use serde_json::json;

/// Opens each section, with a form and a result, and checks the rules in it.
async fn check(driver: &mut Driver, look: Look) {
    let page = Page::open(driver, look, showcase().await).await;
    page.see("Allot a berth").await;
    let is_dark = page
        .run(
            "return matchMedia('(prefers-color-scheme: dark)').matches",
            vec![],
        )
        .await;
    assert_eq!(is_dark, look.is_dark);
    faultless(&page, "Tools").await;
    page.choose("Survey the basin").await;
    page.fill("lines", "1").await;
    page.press("Call the tool").await;
    page.see_element("main table").await;
    faultless(&page, "a result").await;
    if look.is_narrow {
        page.press("‹ Back to the list").await;
    }
    page.choose("Allot a berth").await;
    page.fill("call_sign", "DABC").await;
    page.press("Call the tool").await;
    page.see("The server asks for values").await;
    page.press("Send the answer").await;
    page.see("is required.").await;
    faultless(&page, "a question").await;
    page.press("Decline").await;
    page.press("Checks").await;
    page.press("Check the server").await;
    page.see("answers-once").await;
    page.press("Check the tools").await;
    page.see("Fix: plain").await;
    faultless(&page, "the reports").await;
    page.press("Bench").await;
    page.fill("Tool", "vessels").await;
    page.fill("Calls", "20").await;
    page.press("Measure").await;
    page.see_element(".plot").await;
    faultless(&page, "a plot").await;
    if look.is_narrow {
        page.press("Messages").await;
    }
    page.fill("Filter messages", "answer: tools/call").await;
    page.press("←From the server").await;
    page.press("Compare with the one before").await;
    page.see_element(".diff ins").await;
    page.press("Recordings").await;
    faultless(&page, "a comparison").await;
    for section in ["Resources", "Prompts", "Tasks", "Server"] {
        page.press(section).await;
        faultless(&page, section).await;
    }
}

async fn faultless(page: &Page<'_>, place: &str) {
    let faults = page.run(accessibility(), vec![]).await;
    assert_eq!(faults, json!([]), "{place}: {faults:#}");
}

/// Declares the checks of each look.
macro_rules! looks {
    ($($name:ident $narrow:literal $dark:literal,)*) => {
        pub(crate) const LOOKS: &[crate::Test] = &[$(crate::Test {
            name: stringify!($name),
            run: |driver| Box::pin(check(driver, Look { is_narrow: $narrow, is_dark: $dark })),
        },)*];
    };
}

looks! {
    a_light_page_is_accessible false false,
    a_dark_page_is_accessible false true,
    a_narrow_light_page_is_accessible true false,
    a_narrow_dark_page_is_accessible true true,
}

/// Moves the focus by the keyboard until it is on a control with this name.
async fn tab_to(page: &Page<'_>, name: &str) {
    let focused = "const node = document.activeElement; \
                   return (node.getAttribute('aria-label') ?? node.labels?.[0]?.textContent ?? node.textContent).trim()";
    for _ in 0..80 {
        page.keys(TAB).await;
        let name_of_focus = page.run(focused, vec![]).await;
        if name_of_focus
            .as_str()
            .is_some_and(|text| text.starts_with(name))
        {
            return;
        }
    }
    panic!("{name} is not reached by the keyboard");
}

in_browsers! {
    async fn a_tool_is_called_without_a_mouse(page: &Page) of showcase().await; {
        page.see("Allot a berth").await;
        tab_to(page, "Allot a berth").await;
        page.keys(ENTER).await;
        tab_to(page, "call_sign").await;
        page.keys("DABC").await;
        page.keys(ENTER).await;
        page.see("The server asks for values").await;
        tab_to(page, "Decline").await;
        page.keys(ENTER).await;
        page.see("DABC gets no berth").await;
    }

    async fn reports_and_measurements_need_no_mouse(page: &Page) of showcase().await; {
        page.see("Allot a berth").await;
        tab_to(page, "Checks").await;
        page.keys(ENTER).await;
        tab_to(page, "Check the server").await;
        page.keys(ENTER).await;
        page.see("answers-once").await;
        page.run("document.getElementById('main').focus()", vec![]).await;
        tab_to(page, "Check the tools").await;
        page.keys(ENTER).await;
        page.see("Fix: plain").await;
        // The line of standard error is the newest message.
        tab_to(page, "!").await;
        page.keys(ENTER).await;
        tab_to(page, "Copy").await;
    }

    async fn results_are_announced(page: &Page) of showcase().await; {
        page.choose("Survey the basin").await;
        page.fill("lines", "1").await;
        page.press("Call the tool").await;
        page.see_element("main table").await;
        let status = page.run("return document.querySelector('[role=status][aria-live=polite]').textContent", vec![]).await;
        assert_eq!(status, "Survey the basin: done.");
    }
}
