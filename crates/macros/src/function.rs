//! The function that has the attribute: its name, its parameters, and the call of it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ItemFn, Result, ReturnType};

use crate::doc;
use crate::param::Param;

/// A function that becomes a tool, a prompt or a resource.
pub(crate) struct Function {
    pub(crate) ident: Ident,
    pub(crate) description: Option<String>,
    pub(crate) params: Vec<Param>,
    is_async: bool,
    result: Span,
}

impl Function {
    /// Reads the function.
    ///
    /// # Errors
    ///
    /// If the function is generic, or a parameter is invalid.
    pub(crate) fn read(item: &ItemFn) -> Result<Self> {
        refuse_generics(item)?;
        let typed = item.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(param) => Some(param),
            FnArg::Receiver(_) => None,
        });
        let params = typed.map(Param::read).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            ident: item.sig.ident.clone(),
            description: doc::description(&item.attrs),
            params,
            is_async: item.sig.asyncness.is_some(),
            result: match &item.sig.output {
                ReturnType::Default => item.sig.ident.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
        })
    }

    /// Returns its name on the wire, unless an option sets another.
    pub(crate) fn name(&self) -> String {
        self.ident.to_string().trim_start_matches("r#").to_owned()
    }

    /// Returns the place of its result type, for errors about the type.
    pub(crate) fn result_span(&self) -> Span {
        self.result
    }

    /// Returns the future of one call with these arguments.
    pub(crate) fn future(&self, arguments: &[TokenStream]) -> TokenStream {
        let ident = &self.ident;
        if self.is_async {
            quote!(#ident(#(#arguments),*))
        } else {
            let values = numbered(arguments.len());
            quote!({
                #(let #values = #arguments;)*
                async move { #ident(#(#values),*) }
            })
        }
    }

    /// Returns the future of one call on the pool of blocking threads.
    ///
    /// # Errors
    ///
    /// If the function is async, because an async function must not block.
    pub(crate) fn blocking_future(
        &self,
        paths: &TokenStream,
        asked: Span,
        arguments: &[TokenStream],
    ) -> Result<TokenStream> {
        if self.is_async {
            return Err(syn::Error::new(
                asked,
                "`blocking` is for plain functions; an async function must not block",
            ));
        }
        let ident = &self.ident;
        let values = numbered(arguments.len());
        Ok(quote!({
            #(let #values = #arguments;)*
            #paths::blocking(move || #ident(#(#values),*))
        }))
    }
}

/// Removes the attributes of Pintle, because the compiler does not know them.
pub(crate) fn strip(item: &mut ItemFn) {
    for input in &mut item.sig.inputs {
        if let FnArg::Typed(param) = input {
            param.attrs.retain(|attribute| !is_ours(attribute));
        }
    }
}

fn is_ours(attribute: &Attribute) -> bool {
    doc::is_doc(attribute)
        || ["arg", "ability"]
            .iter()
            .any(|name| attribute.path().is_ident(name))
}

fn numbered(count: usize) -> Vec<Ident> {
    (0..count)
        .map(|number| Ident::new(&format!("__value{number}"), Span::mixed_site()))
        .collect()
}

fn refuse_generics(item: &ItemFn) -> Result<()> {
    let generics = &item.sig.generics;
    if generics.params.is_empty() && generics.where_clause.is_none() {
        return Ok(());
    }
    Err(syn::Error::new(
        generics.span(),
        "the function has generic parameters that the caller cannot choose; name the types",
    ))
}
