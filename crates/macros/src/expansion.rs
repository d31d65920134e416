//! The expansion of the attributes of functions: the function, and a type of its name that implements a trait.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::Parse;
use syn::{Attribute, Result, parse2};

use crate::common::{Common, Paths};
use crate::function::{Function, strip};
use crate::item::{self, Receiver};

/// One of the attributes; its value holds the options.
pub(crate) trait Kind: Parse {
    /// The word in its names: `tool` for `#[tool]`, `IntoTool`, `into_tool` and `Tool`.
    const WORD: &'static str;

    /// Returns the options that all kinds have.
    fn common(&self) -> &Common;

    /// Returns the body of the trait's function: its declarations, then the built value.
    ///
    /// # Errors
    ///
    /// If the function cannot become this kind.
    fn body(&self, function: &Function, paths: &Paths) -> Result<TokenStream>;
}

/// Expands an attribute of this kind. Errors become part of the expansion, beside the function and its
/// type, so that one mistake causes one message.
pub(crate) fn expand<K: Kind>(options: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(mut function) = parse2::<item::Function>(item.clone()) else {
        let message = format!("`#[{}]` stands on a function", K::WORD);
        let error = syn::Error::new_spanned(&item, message).into_compile_error();
        return quote!(#error #item);
    };
    if let Some(receiver) = function.sig.receiver() {
        return method(function.clone(), receiver);
    }
    let (paths, body) = match parse2::<K>(options) {
        Ok(kind) => {
            let paths = kind.common().paths();
            let body = Function::read(&function.attrs, &function.sig)
                .and_then(|function| kind.body(&function, &paths));
            (paths, body)
        }
        Err(error) => (Paths::new(None), Err(error)),
    };
    strip(&mut function.sig);
    let companion = companion::<K>(&function, &paths, body);
    quote!(#function #companion)
}

/// Expands a method into an error. It has no type, because an `impl` block cannot contain one.
fn method(mut function: item::Function, receiver: &Receiver) -> TokenStream {
    let message = "a method needs its value: put `#[tools]` on the `impl` block";
    let error = syn::Error::new_spanned(receiver, message).into_compile_error();
    strip(&mut function.sig);
    // The error is in the body, because an `impl` block cannot contain a macro call with an error.
    function.begin_with(quote!(#error;));
    function.into_token_stream()
}

/// Returns the type beside the function.
fn companion<K: Kind>(
    function: &item::Function,
    paths: &Paths,
    body: Result<TokenStream>,
) -> TokenStream {
    let (body, error) = match body {
        Ok(body) => (body, None),
        Err(error) => (
            quote!(::core::unreachable!()),
            Some(error.into_compile_error()),
        ),
    };
    let hidden = &paths.hidden;
    let Names {
        seam,
        method,
        product,
    } = names(K::WORD);
    let (ident, vis) = (&function.sig.ident, &function.vis);
    let conditions: Vec<&Attribute> = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect();
    let doc = format!(
        "The {} that runs the function [`{ident}`](fn@{ident}).",
        K::WORD
    );
    quote! {
        #error
        #(#conditions)*
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #vis struct #ident {}

        #(#conditions)*
        #[automatically_derived]
        impl #hidden::#seam for #ident {
            fn #method() -> #hidden::#product {
                #body
            }
        }
    }
}

struct Names {
    seam: Ident,
    method: Ident,
    product: Ident,
}

fn names(word: &str) -> Names {
    let (first, rest) = word.split_at(1);
    let capital = format!("{}{rest}", first.to_uppercase());
    Names {
        seam: format_ident!("Into{capital}"),
        method: format_ident!("into_{word}"),
        product: format_ident!("{capital}"),
    }
}
