//! The choice of tools, resources and prompts by their tags.

use super::Server;
use crate::tags::TagRule;

impl Server {
    /// Offers only the tools, resources and prompts that have one of these tags, also those of mounted servers.
    ///
    /// Calls of this function and of [`Server::without_tags`] add up. They choose at the start. Items that a handle
    /// adds later are offered, and also those of extensions and providers.
    ///
    /// ```
    /// use pintle_server::{Server, Tool};
    ///
    /// let read = Tool::new("read").tag("public").handler(async || "text");
    /// let erase = Tool::new("erase").tag("admin").handler(async || ());
    /// let server = Server::new("notes", "1.0.0")
    ///     .add_tool(read)
    ///     .add_tool(erase)
    ///     .only_tags(["public"]);
    /// # drop(server);
    /// ```
    #[must_use]
    pub fn only_tags(mut self, tags: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        let tags = tags.into_iter().map(Into::into).collect();
        self.tag_rules.push(TagRule::Only(tags));
        self
    }

    /// Offers no tool, resource or prompt that has one of these tags. See [`Server::only_tags`].
    #[must_use]
    pub fn without_tags(mut self, tags: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        let tags = tags.into_iter().map(Into::into).collect();
        self.tag_rules.push(TagRule::Without(tags));
        self
    }
}
