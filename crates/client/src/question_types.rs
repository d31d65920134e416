//! Questions as the handlers of a client receive them.

use std::sync::Arc;

use pintle_model::{ElicitSchema, Implementation, JsonObject};
use pintle_runtime::Answer;
use serde_json::Value;

/// A form that a server asks the user to fill in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FormQuestion {
    /// The server's description of itself, unverified: show it.
    pub server: Option<Arc<Implementation>>,
    /// The message for the user.
    pub message: String,
    /// The schema of the form's fields.
    pub schema: ElicitSchema,
    /// Values that the fields begin with. A field that the answer leaves out gets its value from
    /// here, unless [`ClientBuilder::fill_form_defaults`](crate::ClientBuilder::fill_form_defaults) is
    /// off.
    pub defaults: JsonObject,
}

impl FormQuestion {
    /// Returns the defaults with these values as the answer. A value replaces the default of its field.
    ///
    /// ```
    /// # async fn example(server: impl pintle_runtime::Service) -> Result<(), pintle_client::ConnectError> {
    /// use pintle_client::{Client, InProcess};
    ///
    /// let client = Client::builder()
    ///     .on_elicit(async |form| form.accept([("yes", true.into()), ("percent", 10.into())]))
    ///     .connect(InProcess::new(server))
    ///     .await?;
    /// # drop(client);
    /// # Ok(())
    /// # }
    /// ```
    pub fn accept<K: Into<String>>(
        self,
        values: impl IntoIterator<Item = (K, Value)>,
    ) -> Answer<JsonObject> {
        let values = values
            .into_iter()
            .map(|(field, value)| (field.into(), value));
        let mut fields = self.defaults;
        fields.extend(values);
        Answer::Accepted(fields)
    }
}

/// A URL that a server asks the user to visit. It is `https`, or `http` on this machine, and
/// contains no credentials. The client rejects any other URL.
///
/// Show the whole URL. Open it only if the user agrees, in the user's own browser. Never fetch it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UrlQuestion {
    /// The server's description of itself, unverified: show it.
    pub server: Option<Arc<Implementation>>,
    /// The message for the user.
    pub message: String,
    /// The URL: show all of it.
    pub url: String,
    /// The host of the URL: show it prominently.
    pub host: String,
    /// Whether the host may look like another host (Punycode): warn the user.
    pub is_suspicious: bool,
    /// The id with which the server reports that the user is done (2025-11-25).
    pub elicitation_id: Option<String>,
}
