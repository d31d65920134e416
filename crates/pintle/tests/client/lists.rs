//! Lists, by page and as a whole.

use crate::client::help_desk::{client, modes, within};

#[tokio::test(start_paused = true)]
async fn lists_are_whole_in_every_revision() {
    for mode in modes() {
        let client = client(mode).await;
        let tools = within(client.list_tools()).await.expect("a list");
        assert!(tools.iter().any(|tool| tool.name == "add"));
        assert_eq!((tools.len(), tools.spoiled.len()), (9, 0));
        let resources = within(client.list_resources()).await.expect("a list");
        assert_eq!(resources[0].uri, "desk://hours");
        let templates = within(client.list_resource_templates())
            .await
            .expect("a list");
        assert!(templates.is_empty());
        let prompts = within(client.list_prompts()).await.expect("a list");
        assert_eq!(prompts[0].name, "triage");
        let page = within(client.list_tools().page(None))
            .await
            .expect("a page");
        assert_eq!((page.items.len(), page.next), (9, None));
    }
}
