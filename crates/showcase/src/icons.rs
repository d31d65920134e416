//! Icons as `data:` URLs, so that a client needs no request for them.

use pintle::model::Icon;

/// The picture of an anchor, which is SVG, as a `data:` URL. Its Base64 has no characters that a URL forbids.
pub(super) const ANCHOR: &str = "data:image/svg+xml;base64,\
    PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHZpZXdCb3g9JzAgMCAyNCAyNCcgZmlsbD0nbm\
    9uZScgc3Ryb2tlPScjMjM2JyBzdHJva2Utd2lkdGg9JzInPjxjaXJjbGUgY3g9JzEyJyBjeT0nNScgcj0nMicvPjxw\
    YXRoIGQ9J00xMiA3djE0TTggMTFoOE00IDE0YzAgNSA0IDcgOCA3czgtMiA4LTcnLz48L3N2Zz4=";

/// Returns the anchor as an icon of any size.
pub(super) fn anchor() -> Icon {
    let mut icon = Icon::new(ANCHOR);
    icon.mime_type = Some("image/svg+xml".into());
    icon.sizes = Some(vec!["any".into()]);
    icon
}
