//! Several blocks of content: text with annotations, an embedded resource, a link to a resource.

use pintle::model::{Annotations, ResourceContents, Role};
use pintle::prelude::*;

use super::papers::{CHART, GUIDE};

/// Reads the notice to mariners that is in force.
#[tool(title = "Notice to mariners", read_only, open_world = false)]
pub(super) async fn notice() -> Vec<ContentBlock> {
    let urgent = Annotations::default()
        .with_audience([Role::User, Role::Assistant])
        .with_priority(1.0);
    let text = "The fairway light is out. Keep to the middle until the breakwater is abeam.";
    let notice = ResourceContents::text("harbour://notices/1", text).with_mime_type("text/plain");
    vec![
        ContentBlock::text("One notice is in force.").with_annotations(urgent),
        ContentBlock::resource(notice),
        ContentBlock::resource_link(CHART, "chart"),
        ContentBlock::resource_link(GUIDE, "guide"),
    ]
}
