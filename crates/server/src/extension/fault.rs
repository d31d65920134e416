//! Reasons to reject the definition of an extension.

use pintle_model::errors;
use pintle_model::names::NameError;

errors! {
    /// Why an extension cannot be offered.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ExtensionDefinitionError {
        /// The id breaks the grammar, has no prefix, or has a prefix that its author does not own.
        Id(fault: NameError) => "the extension id is invalid" (source: fault),
        /// There is another extension of this id.
        Taken => "the server has an extension of this id already",
        /// A method or notice of this name is the protocol's own.
        CoreName(name: Box<str>) => "`{name}` is the protocol's own",
        /// A method or notice has this name, which cannot be one.
        BadName(name: Box<str>)
            => "`{name}` cannot be its name: methods are named like `tides/get`, notices like `notifications/tides/changed`",
        /// Another extension has a method or notice of this name.
        TakenName(name: Box<str>) => "another extension has `{name}`",
        /// The filter of listeners has this member already.
        TakenTopic(topic: Box<str>) => "listeners ask for something else by `{topic}`",
    }
}
