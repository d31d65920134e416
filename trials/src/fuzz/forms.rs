//! Forms of a server, and the values that a user entered.

use pintle::model::{ElicitParams, ElicitSchema, Fit, InputRequest, Revision};
use pintle::runtime::check_form;
use serde_json::Value;

use super::first_line;

/// A form is the same after it was written, with its unknown members. Checking it and fitting it to
/// every revision never panics.
///
/// # Panics
///
/// If not.
pub fn forms(data: &[u8]) {
    let (form, content) = first_line(data);
    // A member that is there twice makes a field one that we do not know: a tree has it once.
    let tree = serde_json::from_slice::<Value>(form).unwrap_or_default();
    let as_it_came = serde_json::from_slice::<ElicitSchema>(form);
    let Ok(form) = serde_json::from_value::<ElicitSchema>(tree) else {
        return;
    };
    let written = serde_json::to_value(&form).expect("a form can be written");
    let again: ElicitSchema = serde_json::from_value(written).expect("and read again");
    assert_eq!(again, form);
    for revision in Revision::ALL {
        let mut params = ElicitParams::form("?", form.clone());
        // An error is fine, because a revision may lack a member.
        let _ = params.fit(revision);
    }
    let content: Value = serde_json::from_slice(content).unwrap_or_default();
    for form in as_it_came.into_iter().chain([form]) {
        let request: InputRequest = ElicitParams::form("?", form).into();
        // Whether it fits is not asked here; that the question ends is.
        let _ = check_form(&request, &content);
    }
}
