//! URI templates of a server's author, and URIs of its clients.

use pintle::server::Template;

use super::first_line;

/// A URI that matches gives variables that make a URI that matches, and makes the same again.
///
/// # Panics
///
/// If not.
pub fn templates(data: &[u8]) {
    let (template, uri) = first_line(data);
    let (Ok(template), Ok(uri)) = (str::from_utf8(template), str::from_utf8(uri)) else {
        return;
    };
    let Ok(template) = Template::parse(template) else {
        return;
    };
    assert!(template.variables().count() <= 256);
    let Some(found) = template.matches(uri) else {
        return;
    };
    assert!(
        template.check_matchable().is_ok(),
        "what cannot be matched matched"
    );
    let Ok(made) = template.expand(&found) else {
        return;
    };
    let again = template.matches(&made);
    let again = again.unwrap_or_else(|| panic!("{made:?}, made of {found:?}, does not match"));
    assert_eq!(
        template.expand(&again).as_deref(),
        Ok(&*made),
        "of {found:?} and {again:?}"
    );
}
