//! Values of options that are not plain literals.

use std::time::Duration;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Lit, LitStr, Result, Token};

/// Text for people or models: a string, or an expression that returns one.
pub(crate) struct Text(pub(crate) Expr);

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// A pair `name = function`, where the function completes the argument of that name.
pub(crate) struct Callback {
    pub(crate) name: Ident,
    pub(crate) function: Expr,
}

impl Parse for Callback {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            name,
            function: value(input)?,
        })
    }
}

/// Reads an expression up to the next comma. One that `syn` does not know without its feature `full` stays tokens.
///
/// # Errors
///
/// If the expression is missing.
pub(crate) fn value(input: ParseStream<'_>) -> Result<Expr> {
    let is_over = |input: ParseStream<'_>| input.is_empty() || input.peek(Token![,]);
    let ahead = input.fork();
    match ahead.parse::<Expr>() {
        Ok(value) if is_over(&ahead) => {
            input.advance_to(&ahead);
            return Ok(value);
        }
        Err(error) if is_over(input) => return Err(error),
        _ => {}
    }
    let mut tokens = TokenStream::new();
    // The commas of a closure's parameters do not end it.
    let mut is_in_parameters = false;
    while !input.is_empty() && (is_in_parameters || !input.peek(Token![,])) {
        is_in_parameters ^= input.peek(Token![|]) && !input.peek(Token![||]);
        input.parse::<TokenTree>()?.to_tokens(&mut tokens);
    }
    Ok(Expr::Verbatim(tokens))
}

/// Reads `"30s"`: a whole number and its unit.
///
/// # Errors
///
/// If the number or a known unit is missing, or the duration is zero or too large.
pub(crate) fn duration(text: &LitStr) -> Result<Duration> {
    let value = text.value();
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at(digits);
    let scale = match unit.trim() {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let millis = number
        .parse::<u64>()
        .ok()
        .zip(scale)
        .and_then(|(number, scale)| number.checked_mul(scale));
    match millis {
        Some(millis) if millis > 0 => Ok(Duration::from_millis(millis)),
        _ => Err(syn::Error::new(
            text.span(),
            "expected a duration such as \"500ms\", \"30s\", \"10m\" or \"1h\"",
        )),
    }
}

/// Returns an expression of the owned type: a string literal is converted with `Into`.
pub(crate) fn owned(value: &Expr) -> TokenStream {
    match value {
        Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)) => {
            quote!(::core::convert::Into::into(#value))
        }
        _ => value.to_token_stream(),
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn read(text: &str) -> Option<Duration> {
        duration(&LitStr::new(text, Span::call_site())).ok()
    }

    #[test]
    fn a_duration_is_a_number_with_its_unit() {
        assert_eq!(read("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(read("30s"), Some(Duration::from_secs(30)));
        assert_eq!(read("10 m"), Some(Duration::from_secs(600)));
        assert_eq!(read("1h"), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn a_duration_needs_a_unit_and_a_number_above_zero() {
        for text in [
            "",
            "s",
            "30",
            "0s",
            "-1s",
            "1.5s",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
