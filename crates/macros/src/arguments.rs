//! The hidden type that a tool's arguments are decoded into: one field for each parameter.
//!
//! The decoder and the schema come from one type, so that they cannot differ.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Result;
use syn::spanned::Spanned;

use crate::common::{Paths, here};
use crate::keywords::keywords;
use crate::option::owned;
use crate::param::{Absent, Argument, Param};

/// Returns the name of the hidden type within its function.
pub(crate) fn type_name() -> Ident {
    format_ident!("__Arguments")
}

/// Returns the hidden type and the functions of its defaults.
///
/// # Errors
///
/// If two arguments have the same name, or an argument has an invalid option.
pub(crate) fn declaration(paths: &Paths, params: &[Param]) -> Result<TokenStream> {
    refuse_twins(params)?;
    let name = type_name();
    let hidden = &paths.hidden;
    let [serde, schemars] = [paths.text("serde"), paths.text("schemars")];
    let mut fields = Vec::new();
    let mut defaults = Vec::new();
    for param in params {
        if let Some(argument) = param.argument() {
            fields.push(field(param, argument)?);
            defaults.extend(default(param, argument)?);
        }
    }
    Ok(quote! {
        #(#defaults)*
        #[derive(#hidden::serde::Deserialize, #hidden::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #[allow(non_snake_case)]
        struct #name { #(#fields,)* }
    })
}

/// Checks that all arguments have different names.
///
/// # Errors
///
/// At the second argument of the same name.
pub(crate) fn refuse_twins(params: &[Param]) -> Result<()> {
    let mut names = Vec::new();
    for (param, argument) in params
        .iter()
        .filter_map(|param| Some((param, param.argument()?)))
    {
        let name = argument.name();
        if names.contains(&name) {
            return Err(syn::Error::new(
                param.span,
                format!("two arguments are called `{name}`"),
            ));
        }
        names.push(name);
    }
    Ok(())
}

fn field(param: &Param, argument: &Argument) -> Result<TokenStream> {
    let (ident, ty) = (&argument.ident, &param.ty);
    let rename = argument
        .options
        .rename
        .as_ref()
        .map(|name| quote!(#[serde(rename = #name)]));
    let default = argument.options.default.as_ref().map(|_| {
        let function = default_name(argument).to_string();
        quote!(#[serde(default = #function)])
    });
    let description = argument
        .description
        .as_ref()
        .map(|text| quote!(#[schemars(description = #text)]));
    let keywords = keywords(param, argument)?;
    let keywords = (!keywords.is_empty()).then(|| quote!(#[schemars(extend(#(#keywords),*))]));
    Ok(quote!(#rename #default #description #keywords #ident: #ty))
}

fn default_name(argument: &Argument) -> Ident {
    format_ident!("__default_{}", argument.ident)
}

fn default(param: &Param, argument: &Argument) -> Result<Option<TokenStream>> {
    let Some(default) = &argument.options.default else {
        return Ok(None);
    };
    if param.optional().is_some() {
        return Err(syn::Error::new(
            param.ty.span(),
            "an argument with a default is never `None`: leave out the `Option`",
        ));
    }
    let (name, ty) = (default_name(argument), &param.ty);
    let value = match default {
        Absent::Default(span) => quote_spanned!(here(*span)=> ::core::default::Default::default()),
        Absent::Value(value) => owned(value),
    };
    Ok(Some(
        quote!(#[allow(non_snake_case)] fn #name() -> #ty { #value }),
    ))
}
