//! The hidden type that a tool's arguments are decoded into: one field for each parameter.
//!
//! The decoder and the schema come from one type, so that they cannot differ.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Result, Type};

use crate::common::{Paths, here};
use crate::option::owned;
use crate::param::{Absent, Argument, Param, last_segment};

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

/// Returns the keywords of a property beside its type.
fn keywords(param: &Param, argument: &Argument) -> Result<Vec<TokenStream>> {
    let options = &argument.options;
    let ty = param.optional().unwrap_or(&param.ty);
    let mut keywords = Vec::new();
    for (name, value) in &options.bounds {
        let keyword = bound(name, ty)?;
        let value = number(value)?;
        keywords.push(quote!(#keyword = #value));
    }
    keywords.extend(
        options
            .pattern
            .as_ref()
            .map(|pattern| quote!("pattern" = #pattern)),
    );
    keywords.extend(
        options
            .header
            .as_ref()
            .map(|header| quote!("x-mcp-header" = #header)),
    );
    if let Some(pattern) = options
        .pattern
        .as_ref()
        .filter(|_| matches!(shape(ty), Shape::Number | Shape::List))
    {
        return Err(misplaced(pattern, "pattern", "text"));
    }
    Ok(keywords)
}

/// Returns the keyword of a bound, which depends on the bounded type.
fn bound(name: &Ident, ty: &Type) -> Result<&'static str> {
    let said = name.to_string();
    match (said.as_str(), shape(ty)) {
        ("min", Shape::Number | Shape::Other) => Ok("minimum"),
        ("max", Shape::Number | Shape::Other) => Ok("maximum"),
        ("min_len", Shape::Text | Shape::Other) => Ok("minLength"),
        ("max_len", Shape::Text | Shape::Other) => Ok("maxLength"),
        ("min_len", Shape::List) => Ok("minItems"),
        ("max_len", Shape::List) => Ok("maxItems"),
        ("min" | "max", _) => Err(misplaced(
            name,
            &said,
            "numbers; `min_len` and `max_len` bound text and lists",
        )),
        _ => Err(misplaced(
            name,
            &said,
            "text and lists; `min` and `max` bound numbers",
        )),
    }
}

fn misplaced(at: &impl ToTokens, name: &str, place: &str) -> syn::Error {
    syn::Error::new(at.span(), format!("`{name}` is for {place}"))
}

/// Returns a bound if it is a literal number.
fn number(value: &Expr) -> Result<&Expr> {
    let literal = match value {
        Expr::Unary(negative) => &*negative.expr,
        other => other,
    };
    match literal {
        Expr::Lit(literal) if matches!(literal.lit, syn::Lit::Int(_) | syn::Lit::Float(_)) => {
            Ok(value)
        }
        _ => Err(syn::Error::new(value.span(), "a bound is a number")),
    }
}

/// The JSON type of a Rust type, guessed from its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    Text,
    List,
    Other,
}

fn shape(ty: &Type) -> Shape {
    let Some(segment) = last_segment(ty) else {
        return Shape::Other;
    };
    match segment.ident.to_string().as_str() {
        "String" | "Cow" | "char" => Shape::Text,
        "Vec" | "VecDeque" | "HashSet" | "BTreeSet" => Shape::List,
        "f32" | "f64" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32"
        | "i64" | "i128" | "isize" => Shape::Number,
        _ => Shape::Other,
    }
}
