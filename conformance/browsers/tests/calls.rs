//! Tools, their results, progress and the timeline.

use pintle_browsers::{Page, showcase};

/// One revision of each era.
pub(crate) const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

in_browsers! {
    async fn a_tool_is_called_from_its_form(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.choose("Vessels").await;
            page.fill("kind", "tug").await;
            page.press("Call the tool").await;
            page.see_element("main table").await;
            page.see("Gudgeon").await;
        }
    }

    async fn a_missing_argument_is_reported(page: &Page) of showcase().await; {
        page.choose("Allot a berth").await;
        page.press("Call the tool").await;
        page.see("call_sign is required.").await;
        let focused = page.run("return document.activeElement.getAttribute('aria-invalid')", vec![]).await;
        assert_eq!(focused, "true");
    }

    async fn pictures_and_sounds_of_results_are_shown(page: &Page) of showcase().await; {
        page.choose("Tide curve").await;
        page.press("Call the tool").await;
        page.see_element("main img.picture").await;
        let loaded = "const [done] = arguments; const img = document.querySelector('img.picture'); \
                      img.decode().then(() => done(img.naturalWidth), () => done(0))";
        let width = page.run_until_done(loaded, vec![]).await;
        assert!(width.as_u64() > Some(1), "{width}");
        page.choose("Whistle").await;
        page.fill("manoeuvre", "starboard").await;
        page.press("Call the tool").await;
        page.see_element("main audio[controls]").await;
        assert_eq!(page.run("return document.querySelector('audio').error", vec![]).await, serde_json::Value::Null);
    }

    async fn a_call_shows_progress_and_can_be_cancelled(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.choose("Board a pilot").await;
            page.fill("call_sign", "RULE").await;
            page.fill("cables", "100").await;
            page.press("Call the tool").await;
            page.see(" of 100 cables").await;
            page.press("Cancel").await;
            page.see("Cancelled").await;
        }
    }

    async fn a_call_runs_as_a_task(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.choose("Survey the basin").await;
            page.fill("lines", "1").await;
            page.tick("Run as a task").await;
            page.press("Call the tool").await;
            page.see("The call is now the task").await;
            page.press("Show the tasks").await;
            page.press("Wait for the result").await;
            page.see_element("#panel-tasks table").await;
            page.see("completed").await;
        }
    }

    async fn arguments_are_edited_as_json(page: &Page) of showcase().await; {
        page.choose("Survey the basin").await;
        page.fill("lines", "1").await;
        page.tick("Edit as JSON").await;
        let text = "return [...document.querySelectorAll('#panel-tools textarea')].find((node) => node.checkVisibility()).value";
        assert_eq!(page.run(text, vec![]).await, "{\n  \"lines\": 1\n}");
        page.fill("All arguments as JSON", "{").await;
        page.press("Call the tool").await;
        page.see("The arguments are not valid").await;
        page.fill("All arguments as JSON", "{\"lines\": 1}").await;
        page.press("Call the tool").await;
        page.see_element("main table").await;
    }

    async fn the_timeline_has_each_message(page: &Page) of showcase().await; {
        page.see("Answer: tools/list").await;
        page.fill("Filter messages", "tools/list").await;
        page.see_no("server/discover").await;
        page.press("→To the server").await;
        page.press("Copy").await;
        page.fill("Filter messages", "").await;
        page.press("Clear the messages").await;
        page.see("Messages appear here.").await;
    }

    async fn a_call_and_a_resource_take_two_clicks(page: &Page) of showcase().await; {
        page.see("Tide curve").await;
        let count = "window.clicks = 0; addEventListener('click', ({ isTrusted }) => { window.clicks += Number(isTrusted); }, true)";
        page.run(count, vec![]).await;
        page.press("Tide curve").await;
        page.press("Call the tool").await;
        page.see_element("main img.picture").await;
        assert_eq!(page.run("return window.clicks", vec![]).await, 2);
        page.press("Resources").await;
        page.choose("Pilotage guide").await;
        page.see("Pilotage is compulsory").await;
        assert_eq!(page.run("return window.clicks", vec![]).await, 4);
    }

    async fn a_reloaded_page_continues(page: &Page) of showcase().await; {
        page.see("Under-keel clearance").await;
        page.reload().await;
        page.see("Under-keel clearance").await;
        let fragment = page.run("return location.hash", vec![]).await;
        assert_eq!(fragment, "", "the token is not in the address bar");
    }
}
