//! Options of every attribute.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{LitStr, Path, Result};

use crate::attribute::Entry;
use crate::function::Function;
use crate::option::{Callback, Text};

/// The options that tools, prompts and resources share.
#[derive(Default)]
pub(crate) struct Common {
    name: Option<LitStr>,
    title: Option<Text>,
    description: Option<Text>,
    icon: Option<Text>,
    scopes: Vec<LitStr>,
    tags: Vec<LitStr>,
    home: Option<Path>,
}

impl Common {
    /// Stores the option and returns true if it is one of these.
    ///
    /// # Errors
    ///
    /// If the option has an invalid value.
    pub(crate) fn take(&mut self, entry: &Entry) -> Result<bool> {
        match entry.name.to_string().as_str() {
            "name" => self.name = Some(named(entry)?),
            "title" => self.title = Some(entry.text()?),
            "description" => self.description = Some(entry.text()?),
            "icon" => self.icon = Some(entry.text()?),
            "scopes" => self.scopes = entry.strings()?,
            "tags" => self.tags = entry.strings()?,
            "crate" => self.home = Some(entry.path()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the name on the wire.
    pub(crate) fn name(&self, function: &Function) -> String {
        self.name
            .as_ref()
            .map_or_else(|| function.name(), LitStr::value)
    }

    /// Returns the paths that the expansion uses.
    pub(crate) fn paths(&self) -> Paths {
        Paths::new(self.home.as_ref())
    }

    /// Returns the builder calls for these options.
    pub(crate) fn calls(&self, function: &Function, paths: &Paths) -> TokenStream {
        let hidden = &paths.hidden;
        let title = self.title.as_ref().map(|title| quote!(.title(#title)));
        let icon = self
            .icon
            .as_ref()
            .map(|icon| quote!(.icon(#hidden::Icon::new(#icon))));
        let description = match (&self.description, &function.description) {
            (Some(description), _) => Some(quote!(.description(#description))),
            (None, Some(description)) => Some(quote!(.description(#description))),
            (None, None) => None,
        };
        let scopes = (!self.scopes.is_empty()).then_some(&self.scopes);
        let scopes = scopes.map(|scopes| quote!(.scopes([#(#scopes),*])));
        let tags = &self.tags;
        quote!(#title #description #icon #scopes #(.tag(#tags))*)
    }
}

fn named(entry: &Entry) -> Result<LitStr> {
    let name = entry.string()?;
    if name.value().is_empty() {
        return Err(syn::Error::new(name.span(), "the name is empty"));
    }
    Ok(name)
}

/// The paths that an expansion uses.
pub(crate) struct Paths {
    /// The path of `pintle::__private`.
    pub(crate) hidden: TokenStream,
}

impl Paths {
    /// Creates the paths below `home`, the path of the crate `pintle`.
    pub(crate) fn new(home: Option<&Path>) -> Self {
        let hidden = match home {
            Some(home) => quote!(#home::__private),
            None => quote!(::pintle::__private),
        };
        Self { hidden }
    }

    /// Returns a path below `hidden` as text, for attributes that need a string.
    pub(crate) fn text(&self, name: &str) -> String {
        format!("{}::{name}", self.hidden).replace(' ', "")
    }
}

/// Returns the builder calls that set the completer of each argument.
///
/// # Errors
///
/// If `names` does not contain a name.
pub(crate) fn completions(callbacks: &[Callback], names: &[String]) -> Result<TokenStream> {
    let mut calls = TokenStream::new();
    for Callback { name, function } in callbacks {
        let text = name.to_string();
        if !names.contains(&text) {
            return Err(syn::Error::new(
                name.span(),
                format!(
                    "there is no `{text}` to complete; there is {}",
                    enumerate(names)
                ),
            ));
        }
        calls.extend(quote!(.complete(#text, #function)));
    }
    Ok(calls)
}

/// Joins names for a sentence.
pub(crate) fn enumerate(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names => names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Returns the builder calls that require the abilities of the function.
pub(crate) fn needs(function: &Function) -> TokenStream {
    let mut calls = TokenStream::new();
    for param in &function.params {
        if matches!(param.role, crate::param::Role::Ability) {
            let ty = &param.ty;
            calls.extend(quote!(.needs::<#ty>()));
        }
    }
    calls
}

/// Returns the same place for generated names; this also works inside another macro's expansion.
pub(crate) fn here(place: Span) -> Span {
    place.resolved_at(Span::call_site())
}
