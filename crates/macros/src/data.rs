//! `#[data]`: the derives of a type of arguments and results, in one attribute.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Data, DeriveInput, Fields, Path, Result, Token, parse2};

use crate::common::{Paths, here};

/// Expands the attribute. Errors become part of the expansion, beside the type.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let attributes = match parse2::<DeriveInput>(item.clone()) {
        Ok(input) => attributes(options, &input),
        Err(_) => Err(misplaced(&item)),
    };
    match attributes {
        Ok(attributes) => quote!(#attributes #item),
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#error #item)
        }
    }
}

fn misplaced(item: &TokenStream) -> syn::Error {
    syn::Error::new_spanned(item, "`#[data]` stands on a struct or an enum")
}

/// Returns the attributes that the type gets.
fn attributes(options: TokenStream, input: &DeriveInput) -> Result<TokenStream> {
    if let Data::Union(union) = &input.data {
        let message = "`#[data]` stands on a struct or an enum";
        return Err(syn::Error::new(union.union_token.span, message));
    }
    let Options { home, new, serde } = Options::parse.parse2(options)?;
    let paths = Paths::new(home.as_ref());
    let derives = derives(input, &paths)?;
    let constructor = new.map(|new| constructor(&new, input)).transpose()?;
    let [serde_path, schemars_path] = [paths.text("serde"), paths.text("schemars")];
    Ok(quote! {
        #constructor
        #[derive(#(#derives),*)]
        #[serde(crate = #serde_path, #serde)]
        #[schemars(crate = #schemars_path)]
    })
}

/// Returns an `impl` block with the function `new`, which has a parameter for each field.
fn constructor(new: &Ident, input: &DeriveInput) -> Result<TokenStream> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => return Err(without_names(new)),
        },
        _ => return Err(without_names(new)),
    };
    let (visibility, name) = (&input.vis, &input.ident);
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let names: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let types = fields.iter().map(|field| &field.ty);
    let doc = "Returns a value of these fields.";
    // The span of the option, so that errors about a second `new` point at it.
    Ok(quote_spanned! {here(new.span())=>
        impl #generics #name #arguments #bounds {
            #[doc = #doc]
            #[allow(clippy::too_many_arguments)]
            #visibility fn new(#(#names: #types),*) -> Self {
                Self { #(#names),* }
            }
        }
    })
}

fn without_names(new: &Ident) -> syn::Error {
    syn::Error::new_spanned(new, "`new` is for a struct with named fields")
}

/// The options of the attribute: the path of `pintle`, a constructor, and options for `#[serde(…)]`.
struct Options {
    home: Option<Path>,
    new: Option<Ident>,
    serde: TokenStream,
}

impl Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut home = None;
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            home = Some(input.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        let mut new = None;
        if input.peek(syn::Ident) && input.fork().parse::<Ident>()? == "new" {
            new = Some(input.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        let serde = input.parse()?;
        Ok(Self { home, new, serde })
    }
}

/// Returns the derives that the type needs and does not name itself.
fn derives(input: &DeriveInput, paths: &Paths) -> Result<Vec<TokenStream>> {
    let hidden = &paths.hidden;
    // Errors of a derive point at the type, because the attribute has no other place for them.
    let place = here(input.ident.span());
    let mut all = vec![
        ("Debug", quote_spanned!(place=> ::core::fmt::Debug)),
        ("Clone", quote_spanned!(place=> ::core::clone::Clone)),
        (
            "Serialize",
            quote_spanned!(place=> #hidden::serde::Serialize),
        ),
        (
            "Deserialize",
            quote_spanned!(place=> #hidden::serde::Deserialize),
        ),
        (
            "JsonSchema",
            quote_spanned!(place=> #hidden::schemars::JsonSchema),
        ),
    ];
    if is_plain_enum(&input.data) {
        all.push(("Copy", quote_spanned!(place=> ::core::marker::Copy)));
        all.push(("PartialEq", quote_spanned!(place=> ::core::cmp::PartialEq)));
        all.push(("Eq", quote_spanned!(place=> ::core::cmp::Eq)));
    }
    if has_default(&input.data) {
        all.push(("Default", quote_spanned!(place=> ::core::default::Default)));
    }
    let named = named(&input.attrs)?;
    all.retain(|(name, _)| !named.contains(&format_ident!("{name}")));
    Ok(all.into_iter().map(|(_, path)| path).collect())
}

/// Returns true for an enum whose variants have no fields.
fn is_plain_enum(data: &Data) -> bool {
    matches!(data, Data::Enum(data) if data.variants.iter().all(|variant| variant.fields.is_empty()))
}

/// Returns true for an enum with a variant under `#[default]`.
fn has_default(data: &Data) -> bool {
    let is_default = |attribute: &Attribute| attribute.path().is_ident("default");
    matches!(data, Data::Enum(data)
        if data.variants.iter().any(|variant| variant.attrs.iter().any(is_default)))
}

/// Returns the last segments of the derives that the type names itself.
fn named(attributes: &[Attribute]) -> Result<Vec<Ident>> {
    let mut names = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("derive") {
            attribute.parse_nested_meta(|meta| {
                names.extend(meta.path.segments.last().map(|last| last.ident.clone()));
                Ok(())
            })?;
        }
    }
    Ok(names)
}
