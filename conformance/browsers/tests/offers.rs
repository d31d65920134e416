//! Resources, templates, prompts and completion.

use pintle_browsers::{Page, showcase};

use crate::calls::ERAS;

in_browsers! {
    async fn a_resource_is_read(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.press("Resources").await;
            page.see_element("#panel-resources .choices li button").await;
            page.run("document.querySelector('#panel-resources .choices li button').click()", vec![]).await;
            page.press("Read").await;
            page.see("Result").await;
            page.see_element("#panel-resources .result .card").await;
        }
    }

    async fn a_template_is_completed_and_read(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.press("Resources").await;
            page.see("Template: harbour://vessels/").await;
            let item = "[...document.querySelectorAll('#panel-resources .choices li button')]\
                        .find((node) => node.textContent.includes('harbour://vessels/')).click()";
            page.run(item, vec![]).await;
            page.fill("call_sign", "G").await;
            page.see_element("#panel-resources datalist option").await;
            let first = page.run("return document.querySelector('#panel-resources datalist option').value", vec![]).await;
            page.fill("call_sign", first.as_str().expect("a text")).await;
            page.press("Read").await;
            page.see_element("#panel-resources .result .card .label").await;
        }
    }

    async fn a_change_of_a_resource_is_shown(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.press("Resources").await;
            page.see("harbour://movements").await;
            let item = "[...document.querySelectorAll('#panel-resources .choices li button')]\
                        .find((node) => node.textContent.includes('harbour://movements')).click()";
            page.run(item, vec![]).await;
            page.press("Subscribe").await;
            page.see("Subscribed").await;
            page.press("Tools").await;
            page.choose("Log a movement").await;
            page.press("Call the tool").await;
            page.see("Result").await;
            page.press("Resources").await;
            page.see("The resource has changed.").await;
        }
    }

    async fn a_prompt_is_completed(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.press("Prompts").await;
            page.see_element("#panel-prompts .choices li button").await;
            page.run("document.querySelector('#panel-prompts .choices li button').click()", vec![]).await;
            page.run("document.querySelector('#panel-prompts form input').focus()", vec![]).await;
            page.see_element("#panel-prompts datalist option").await;
            let fill = "for (const node of document.querySelectorAll('#panel-prompts form input')) \
                        node.value = node.list?.options[0]?.value ?? 'DABC'";
            page.run(fill, vec![]).await;
            page.press("Get the messages").await;
            page.see_element("#panel-prompts .result h3").await;
        }
    }
}
