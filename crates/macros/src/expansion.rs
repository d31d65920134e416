//! What all three attributes expand to: the function, and a type of its name that implements a trait.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::Parse;
use syn::{Attribute, ItemFn, Receiver, Result, parse2};

use crate::common::{Common, Paths};
use crate::function::{Function, strip};

/// One of the attributes; the value is what its options say.
pub(crate) trait Kind: Parse {
    /// The word for it: `tool` for `#[tool]`, `IntoTool`, `into_tool` and `Tool`.
    const WORD: &'static str;

    /// The options all kinds have.
    fn common(&self) -> &Common;

    /// The body of the trait's function: whatever it needs, then the built value.
    ///
    /// # Errors
    ///
    /// If the function cannot be one of this kind.
    fn body(&self, function: &Function, paths: &Paths) -> Result<TokenStream>;
}

/// Expands an attribute of this kind. Errors become part of the expansion, beside a function and a type
/// that stand in for what was meant: one mistake is one message.
pub(crate) fn expand<K: Kind>(options: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(mut function) = parse2::<ItemFn>(item.clone()) else {
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
            let body = Function::read(&function).and_then(|function| kind.body(&function, &paths));
            (paths, body)
        }
        Err(error) => (Paths::new(None), Err(error)),
    };
    strip(&mut function);
    let companion = companion::<K>(&function, &paths, body);
    quote!(#function #companion)
}

/// The complaint about a method. No type can stand beside it, so none does.
fn method(mut function: ItemFn, receiver: &Receiver) -> TokenStream {
    let message = "a method cannot be called without its `self`: take what it holds as `State<T>`";
    let error = syn::Error::new_spanned(receiver, message).into_compile_error();
    strip(&mut function);
    // An error stands where items of an impl may: in a body.
    function.block.stmts.insert(0, syn::parse_quote!(#error;));
    function.into_token_stream()
}

/// The type beside the function.
fn companion<K: Kind>(function: &ItemFn, paths: &Paths, body: Result<TokenStream>) -> TokenStream {
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
        "The {} made of the function [`{ident}`](fn@{ident}).",
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
