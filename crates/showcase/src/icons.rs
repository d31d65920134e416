//! Icons as `data:` URLs, so that a client needs no request for them.

use pintle::model::Icon;

/// The picture of an anchor as a `data:` URL.
pub(super) const ANCHOR: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 24 24' fill='none' stroke='%23236' stroke-width='2'%3E\
    %3Ccircle cx='12' cy='5' r='2'/%3E%3Cpath d='M12 7v14M8 11h8M4 14c0 5 4 7 8 7s8-2 8-7'/%3E%3C/svg%3E";

/// Returns the anchor as an icon of any size.
pub(super) fn anchor() -> Icon {
    let mut icon = Icon::new(ANCHOR);
    icon.mime_type = Some("image/svg+xml".into());
    icon.sizes = Some(vec!["any".into()]);
    icon
}
