//! Identity that a program declares, and icons of things.

use serde_json::Value;

use crate::fit::drop_without;
use crate::object::object;
use crate::open_enum::open_enum;
use crate::read::{Read, ReadError, Source, of_value};
use crate::{Base64, Extra, Feature, Fit, FitError, JsonObject, Revision};

/// Identity that a client or a server declares about itself.
///
/// For display and for logs: nothing may be decided by it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Implementation {
    /// Programmatic name.
    pub name: String,
    /// Title, for display to people.
    pub title: Option<String>,
    /// Its own version; not a protocol revision. Of a server it may be missing, and is empty then.
    pub version: String,
    /// Description of the program.
    pub description: Option<String>,
    /// Icons, for display.
    pub icons: Option<Vec<Icon>>,
    /// URL of the home page.
    pub website_url: Option<String>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(Implementation {
    "name" => required name,
    "title" => optional title,
    "version" => required version,
    "description" => optional description,
    "icons" => optional icons,
    "websiteUrl" => optional website_url,
});

impl Implementation {
    /// Creates an identity from a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// Sets the title, for display to people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description of the program.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the URL of the home page.
    #[must_use]
    pub fn with_website_url(mut self, url: impl Into<String>) -> Self {
        self.website_url = Some(url.into());
        self
    }

    /// The name to show: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// Reads the identity of a server, with an empty version if it has none: a client can use the server
/// all the same.
///
/// # Errors
///
/// When it is not an object with a name, or a member has the wrong type.
pub(crate) fn of_server(source: &mut dyn Source<'_>) -> Result<Implementation, ReadError> {
    let mut members = JsonObject::read(source)?;
    members.entry("version").or_insert_with(|| "".into());
    Implementation::read(&mut of_value(Value::Object(members)))
}

open_enum! {
    /// Background that an icon is designed for.
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

/// An icon of a program or of an offer.
///
/// A program that shows it must treat the address and the bytes as untrusted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Icon {
    /// Address of the icon: an `https:` or a `data:` URL.
    pub src: String,
    /// Media type.
    pub mime_type: Option<String>,
    /// The sizes it is good for: `48x48`, or `any`.
    pub sizes: Option<Vec<String>>,
    /// Background that the icon is designed for.
    pub theme: Option<IconTheme>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(Icon {
    "src" => required src,
    "mimeType" => optional mime_type,
    "sizes" => optional sizes,
    "theme" => optional theme,
});

impl Icon {
    /// Creates an icon from its address.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            ..Self::default()
        }
    }

    /// Creates an icon that contains its bytes, in a `data:` URL.
    pub fn from_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        let mime_type = mime_type.into();
        let data = Base64::encode(bytes);
        Self {
            src: format!("data:{mime_type};base64,{}", data.as_str()),
            mime_type: Some(mime_type),
            ..Self::default()
        }
    }

    /// Sets the media type, such as `image/png`.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the sizes that the icon is good for: `48x48`, or `any`.
    #[must_use]
    pub fn with_sizes<S: Into<String>>(mut self, sizes: impl IntoIterator<Item = S>) -> Self {
        self.sizes = Some(sizes.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the background that the icon is designed for.
    #[must_use]
    pub fn with_theme(mut self, theme: IconTheme) -> Self {
        self.theme = Some(theme);
        self
    }
}

impl Fit for Implementation {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::Titles, revision, &mut self.title);
        drop_without(Feature::Icons, revision, &mut self.description);
        drop_without(Feature::Icons, revision, &mut self.website_url);
        drop_without(Feature::Icons, revision, &mut self.icons);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2025-11-25 D0618-04, D0326-06, ICON-02 (members)
    // spec: 2026-07-28 N-ICON-05
    #[test]
    fn an_identity_has_the_members_its_revision_knows() {
        let wire = json!({"name": "a", "title": "A", "version": "1", "description": "d",
            "icons": [{"src": "data:,", "mimeType": "m", "sizes": ["any"], "theme": "dark", "x": 1}],
            "websiteUrl": "https://a.example", "x": 1});
        let mut identity: Implementation = serde_json::from_value(wire.clone()).unwrap();

        identity.fit(Revision::LATEST).unwrap();
        assert_eq!(serde_json::to_value(&identity).unwrap(), wire);
        identity.fit(Revision::V2025_06_18).unwrap();
        let plain = json!({"name": "a", "title": "A", "version": "1", "x": 1});
        assert_eq!(serde_json::to_value(&identity).unwrap(), plain);
        identity.fit(Revision::V2025_03_26).unwrap();
        assert_eq!(identity.display_name(), "a");
    }

    #[test]
    fn an_icon_is_described_in_one_expression() {
        let icon = Icon::new("https://a.example/i.png")
            .with_mime_type("image/png")
            .with_sizes(["48x48", "any"])
            .with_theme(IconTheme::Dark);

        let wire = json!({"src": "https://a.example/i.png", "mimeType": "image/png",
            "sizes": ["48x48", "any"], "theme": "dark"});
        assert_eq!(serde_json::to_value(icon).unwrap(), wire);
    }

    // spec: 2025-11-25 LIFE-02
    #[test]
    fn an_identity_has_a_version_unless_it_is_that_of_a_server() {
        let unversioned = json!({"name": "a", "x": 1});
        assert!(serde_json::from_value::<Implementation>(unversioned.clone()).is_err());

        let server = of_server(&mut of_value(unversioned)).ok().unwrap();
        assert_eq!((&*server.name, &*server.version), ("a", ""));
        assert_eq!(server.extra["x"], 1);
        for wrong in [
            json!({"version": "1"}),
            json!({"name": "a", "version": 1}),
            json!("a"),
        ] {
            assert!(of_server(&mut of_value(wrong)).is_err());
        }
    }

    // spec: 2025-11-25 ICON-01
    #[test]
    fn an_icon_can_carry_its_bytes() {
        let icon = Icon::from_bytes([1, 2], "image/png");
        assert_eq!(icon.src, "data:image/png;base64,AQI=");
    }

    #[test]
    fn an_identity_states_the_website_of_the_program() {
        let identity = Implementation::new("a", "1").with_website_url("https://a.example");
        let wire = json!({"name": "a", "version": "1", "websiteUrl": "https://a.example"});
        assert_eq!(serde_json::to_value(identity).unwrap(), wire);
    }
}
