//! `#[main]`: a `main` that returns a server, or serves in its body.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Path, Result, ReturnType, Token, parse2};

use crate::common::{Paths, here};
use crate::item::{Function, Signature};

/// Expands the attribute. Errors become part of the expansion, beside the function.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(function) = parse2::<Function>(item.clone()) else {
        let message = "`#[main]` stands on a function";
        let error = syn::Error::new_spanned(&item, message).into_compile_error();
        return quote!(#error #item);
    };
    let paths = home.parse2(options).map(|home| Paths::new(home.as_ref()));
    match paths.and_then(|paths| check(&function.sig).map(|()| paths)) {
        Ok(paths) => wrap(function, &paths),
        Err(error) => {
            let error = error.into_compile_error();
            let (attributes, vis, name) = (&function.attrs, &function.vis, &function.sig.ident);
            // Without the body, so that one mistake causes one message.
            quote!(#error #(#attributes)* #vis fn #name() {})
        }
    }
}

/// Parses the only option, `crate = path`.
fn home(input: ParseStream<'_>) -> Result<Option<Path>> {
    if input.is_empty() {
        return Ok(None);
    }
    if !input.peek(Token![crate]) {
        let message = "the only option is `crate = path`; another runtime needs `#[tokio::main]` and `server.run().await`";
        return Err(input.error(message));
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    input.parse().map(Some)
}

fn check(signature: &Signature) -> Result<()> {
    if let Some(input) = signature.inputs.first() {
        let message = "`main` has no parameters; read arguments with `std::env::args`";
        return Err(syn::Error::new_spanned(input, message));
    }
    if let Some(parameter) = signature.generics.params.first() {
        let message = "`main` is not generic";
        return Err(syn::Error::new_spanned(parameter, message));
    }
    Ok(())
}

/// Returns a function of the same name, which runs the given one on a runtime.
fn wrap(mut function: Function, paths: &Paths) -> TokenStream {
    let hidden = &paths.hidden;
    let inner = format_ident!("__{}", function.sig.ident);
    let name = std::mem::replace(&mut function.sig.ident, inner.clone());
    let attributes = std::mem::take(&mut function.attrs);
    let vis = std::mem::replace(&mut function.vis, syn::Visibility::Inherited);
    let body = match function.sig.is_async {
        true => quote!(#inner()),
        false => quote!(async { #inner() }),
    };
    // An unfit result is reported at its type.
    let place = match &function.sig.output {
        ReturnType::Type(_, result) => result.span(),
        ReturnType::Default => name.span(),
    };
    let run = quote_spanned!(here(place)=> #hidden::run_main(#body));
    quote! {
        #(#attributes)*
        #vis fn #name() -> ::std::process::ExitCode {
            #function
            #run
        }
    }
}
