//! The keywords of JSON Schema that the options of `#[arg(…)]` add to an argument.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Expr, Lit, Result, Type};

use crate::param::{Absent, Argument, Param, last_segment};

/// Returns the keywords of a property beside its type.
///
/// # Errors
///
/// If an option does not fit the type, or a bound is not a literal number.
pub(crate) fn keywords(
    param: &Param,
    argument: &Argument,
) -> Result<Vec<(&'static str, TokenStream)>> {
    let options = &argument.options;
    let ty = param.optional().unwrap_or(&param.ty);
    let mut keywords = Vec::new();
    for (name, value) in &options.bounds {
        let keyword = bound(name, ty)?;
        let value = number(value)?;
        keywords.push((keyword, quote!(#value)));
    }
    keywords.extend(
        options
            .pattern
            .as_ref()
            .map(|pattern| ("pattern", quote!(#pattern))),
    );
    keywords.extend(
        options
            .header
            .as_ref()
            .map(|header| ("x-mcp-header", quote!(#header))),
    );
    keywords.extend(one_of(argument, ty)?.map(|texts| ("enum", texts)));
    if let Some(pattern) = options.pattern.as_ref().filter(|_| !may_be_text(ty)) {
        return Err(misplaced(pattern, "pattern", "text"));
    }
    Ok(keywords)
}

/// Returns the value of the keyword of `one_of("…", "…")`, which lists the valid texts.
fn one_of(argument: &Argument, ty: &Type) -> Result<Option<TokenStream>> {
    let texts = &argument.options.one_of;
    let Some(first) = texts.first() else {
        return Ok(None);
    };
    if !may_be_text(ty) {
        let place = "text; `min` and `max` bound numbers";
        return Err(misplaced(first, "one_of", place));
    }
    if let Some(Absent::Value(Expr::Lit(literal))) = &argument.options.default
        && let Lit::Str(default) = &literal.lit
        && texts.iter().all(|text| text.value() != default.value())
    {
        return Err(syn::Error::new(
            default.span(),
            "`one_of` does not have this text",
        ));
    }
    Ok(Some(quote!([#(#texts),*])))
}

fn may_be_text(ty: &Type) -> bool {
    matches!(shape(ty), Shape::Text | Shape::Other)
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
        Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Float(_)) => Ok(value),
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
