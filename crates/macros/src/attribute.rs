//! The grammar of the attributes: `word`, `name = value` and `name(…)`, separated by commas.
//!
//! The attributes check the names of options. This module checks that no option is repeated.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, LitBool, LitStr, Path, Result, Token, parenthesized, token};

use crate::option::{Callback, Text, value};

/// One option of an attribute.
pub(crate) struct Entry {
    pub(crate) name: Ident,
    value: EntryValue,
}

enum EntryValue {
    Word,
    Equals(Expr),
    List(TokenStream),
}

impl Entry {
    /// Returns whether a flag is set: `flag`, `flag = true` or `flag = false`.
    pub(crate) fn flag(&self) -> Result<bool> {
        match &self.value {
            EntryValue::Word => Ok(true),
            EntryValue::Equals(Expr::Lit(literal)) => match &literal.lit {
                Lit::Bool(LitBool { value, .. }) => Ok(*value),
                _ => Err(self.expected("alone, or with `= true` or `= false`")),
            },
            _ => Err(self.expected("alone, or with `= true` or `= false`")),
        }
    }

    /// Checks that the option has no value, and returns its place.
    pub(crate) fn word(&self) -> Result<Span> {
        match self.value {
            EntryValue::Word => Ok(self.name.span()),
            _ => Err(self.expected("alone, without a value")),
        }
    }

    /// Returns the string after `=`.
    pub(crate) fn string(&self) -> Result<LitStr> {
        match &self.value {
            EntryValue::Equals(Expr::Lit(literal)) => match &literal.lit {
                Lit::Str(text) => Ok(text.clone()),
                _ => Err(self.expected("with a string: `= \"…\"`")),
            },
            _ => Err(self.expected("with a string: `= \"…\"`")),
        }
    }

    /// Returns the text after `=`: a string, or an expression that returns one.
    pub(crate) fn text(&self) -> Result<Text> {
        self.expression().map(Text)
    }

    /// Returns the expression after `=`.
    pub(crate) fn expression(&self) -> Result<Expr> {
        self.optional_expression()?
            .ok_or_else(|| self.expected("with a value: `= …`"))
    }

    /// Returns the expression after `=`, or `None` for a bare word.
    pub(crate) fn optional_expression(&self) -> Result<Option<Expr>> {
        match &self.value {
            EntryValue::Word => Ok(None),
            EntryValue::Equals(value) => Ok(Some(value.clone())),
            EntryValue::List(_) => Err(self.expected("with a value: `= …`")),
        }
    }

    /// Returns the path after `=`.
    pub(crate) fn path(&self) -> Result<Path> {
        match &self.value {
            EntryValue::Equals(Expr::Path(value)) if value.qself.is_none() => {
                Ok(value.path.clone())
            }
            _ => Err(self.expected("with a path: `= some::path`")),
        }
    }

    /// Returns the strings in parentheses.
    pub(crate) fn strings(&self) -> Result<Vec<LitStr>> {
        let name = &self.name;
        self.list(&format!(
            "with strings in parentheses, without `=`: `{name}(\"…\", \"…\")`"
        ))
    }

    /// Returns the functions in parentheses, each with the name of its argument.
    pub(crate) fn callbacks(&self) -> Result<Vec<Callback>> {
        let of = &self.name;
        self.list(&format!(
            "with functions in parentheses, without `=`: `{of}(name = function, …)`"
        ))
    }

    fn list<T: Parse>(&self, form: &str) -> Result<Vec<T>> {
        let EntryValue::List(tokens) = &self.value else {
            return Err(self.expected(form));
        };
        let items = Punctuated::<T, Token![,]>::parse_terminated.parse2(tokens.clone())?;
        if items.is_empty() {
            return Err(self.expected(form));
        }
        Ok(items.into_iter().collect())
    }

    /// Returns the error for an unknown name.
    pub(crate) fn unknown(&self, options: &str) -> syn::Error {
        let name = &self.name;
        syn::Error::new(
            name.span(),
            format!("unknown option `{name}`; there are {options}"),
        )
    }

    fn expected(&self, form: &str) -> syn::Error {
        let name = &self.name;
        syn::Error::new(name.span(), format!("`{name}` stands {form}"))
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = Ident::parse_any(input)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            EntryValue::Equals(value(input)?)
        } else if input.peek(token::Paren) {
            let list;
            parenthesized!(list in input);
            EntryValue::List(list.parse()?)
        } else {
            EntryValue::Word
        };
        Ok(Self { name, value })
    }
}

/// Reads options up to the end of the attribute.
///
/// # Errors
///
/// The first option that is malformed or repeated.
pub(crate) fn entries(input: ParseStream<'_>) -> Result<Vec<Entry>> {
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated(input)?;
    let mut seen: Vec<Entry> = Vec::new();
    for entry in entries {
        if seen.iter().any(|earlier| earlier.name == entry.name) {
            let name = &entry.name;
            return Err(syn::Error::new(
                name.span(),
                format!("duplicate option `{name}`"),
            ));
        }
        seen.push(entry);
    }
    Ok(seen)
}
