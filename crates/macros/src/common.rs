//! Options that every attribute takes.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{LitStr, Path, Result};

use crate::attribute::Entry;
use crate::function::Function;
use crate::option::{Callback, Text};

/// What a tool, a prompt and a resource say about themselves.
#[derive(Default)]
pub(crate) struct Common {
    name: Option<LitStr>,
    title: Option<Text>,
    description: Option<Text>,
    icon: Option<Text>,
    scopes: Vec<LitStr>,
    home: Option<Path>,
}

impl Common {
    /// Takes the option if it is one of these.
    ///
    /// # Errors
    ///
    /// If its value does not fit.
    pub(crate) fn take(&mut self, entry: &Entry) -> Result<bool> {
        match entry.name.to_string().as_str() {
            "name" => self.name = Some(named(entry)?),
            "title" => self.title = Some(entry.text()?),
            "description" => self.description = Some(entry.text()?),
            "icon" => self.icon = Some(entry.text()?),
            "scopes" => self.scopes = entry.strings()?,
            "crate" => self.home = Some(entry.path()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The name on the wire.
    pub(crate) fn name(&self, function: &Function) -> String {
        self.name
            .as_ref()
            .map_or_else(|| function.name(), LitStr::value)
    }

    /// Where the expansion finds what it needs.
    pub(crate) fn paths(&self) -> Paths {
        Paths::new(self.home.as_ref())
    }

    /// The calls of the builder that say these options.
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
        quote!(#title #description #icon #scopes)
    }
}

fn named(entry: &Entry) -> Result<LitStr> {
    let name = entry.string()?;
    if name.value().is_empty() {
        return Err(syn::Error::new(name.span(), "a name is not empty"));
    }
    Ok(name)
}

/// The paths an expansion is made of.
pub(crate) struct Paths {
    /// `::pintle::__private`, wherever that is.
    pub(crate) hidden: TokenStream,
}

impl Paths {
    /// The paths below `home`, the crate `pintle` by whatever name.
    pub(crate) fn new(home: Option<&Path>) -> Self {
        let hidden = match home {
            Some(home) => quote!(#home::__private),
            None => quote!(::pintle::__private),
        };
        Self { hidden }
    }

    /// The path of something hidden, as text for attributes that want text.
    pub(crate) fn text(&self, name: &str) -> String {
        format!("{}::{name}", self.hidden).replace(' ', "")
    }
}

/// The calls of the builder that name what completes each argument.
///
/// # Errors
///
/// If a name is none of `known`.
pub(crate) fn completions(callbacks: &[Callback], known: &[String]) -> Result<TokenStream> {
    let mut calls = TokenStream::new();
    for Callback { name, function } in callbacks {
        let text = name.to_string();
        if !known.contains(&text) {
            return Err(syn::Error::new(
                name.span(),
                format!(
                    "there is no `{text}` to complete; there is {}",
                    enumerate(known)
                ),
            ));
        }
        calls.extend(quote!(.complete(#text, #function)));
    }
    Ok(calls)
}

/// Names in a sentence.
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

/// The calls of the builder that say what the function needs to be provided.
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

/// The same place, for names that are ours: also where the function comes out of another macro.
pub(crate) fn here(place: Span) -> Span {
    place.resolved_at(Span::call_site())
}
