//! Questions of the server, in both eras.

use pintle_browsers::{Page, showcase};

use crate::calls::ERAS;

in_browsers! {
    async fn a_form_is_answered(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.choose("Allot a berth").await;
            page.fill("call_sign", "DABC").await;
            page.press("Call the tool").await;
            page.see("The server asks for values").await;
            page.press("Send the answer").await;
            page.see("is required.").await;
            page.fill("berth", "fish-quay").await;
            page.fill("hours", "3").await;
            page.press("Send the answer").await;
            page.see("for 3 hours").await;
            page.see_no("The server asks for values").await;
        }
    }

    async fn a_form_is_declined(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.choose("Allot a berth").await;
            page.fill("call_sign", "DABC").await;
            page.press("Call the tool").await;
            page.see("The server asks for values").await;
            page.press("Decline").await;
            page.see("DABC gets no berth").await;
        }
    }

    async fn an_address_opens_after_consent(page: &Page) of showcase().await; {
        for (windows, era) in (1..).zip(ERAS) {
            page.use_revision(era).await;
            page.choose("Sign the conditions").await;
            page.press("Call the tool").await;
            page.see("https://harbour.example/conditions").await;
            assert_eq!(page.tabs().await, windows);
            page.press("Open in a new tab").await;
            page.see("the master is on the way to sign").await;
            assert_eq!(page.tabs().await, windows + 1);
        }
    }

    async fn a_model_is_answered_by_hand(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.choose("Phrase a report").await;
            page.fill("report", "fog").await;
            page.press("Call the tool").await;
            page.see("The server asks a model").await;
            page.fill("The answer of the model", "All is foggy.").await;
            page.press("Send the answer").await;
            page.see("All is foggy.").await;
            page.see_no("The server asks a model").await;
        }
    }

    async fn the_server_receives_the_roots(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.press("Server").await;
            page.fill("Roots", "file:///charts").await;
            page.press("Set the roots").await;
            page.see("The roots are set.").await;
            page.press("Tools").await;
            page.choose("Chart folders").await;
            page.press("Call the tool").await;
            page.see_element("#panel-tools table").await;
            page.see("file:///charts").await;
        }
    }
}
