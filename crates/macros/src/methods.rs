//! `#[tools]`: the methods of an `impl` block.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Meta, Path, Result, parse2};

use crate::attribute::entries;
use crate::common::Paths;
use crate::expansion::Kind;
use crate::function::{Function, strip, this};
use crate::item::{self, Block, Member, Signature};
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::tool::Tool;

const ONE_OPTION: &str =
    "`#[tools]` has the option `crate`; the attributes of the methods have the others";

/// The options of `#[tools]`.
#[derive(Default)]
struct Options {
    home: Option<Path>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        for entry in entries(input)? {
            match entry.name.to_string().as_str() {
                "crate" => options.home = Some(entry.path()?),
                _ => return Err(syn::Error::new(entry.name.span(), ONE_OPTION)),
            }
        }
        Ok(options)
    }
}

/// Expands the attribute. Errors become part of the expansion, beside the block.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(mut block) = parse2::<Block>(item.clone()) else {
        let message = "`#[tools]` stands on an `impl` block";
        let error = syn::Error::new_spanned(&item, message).into_compile_error();
        return quote!(#error #item);
    };
    let options = parse2::<Options>(options);
    let paths = Paths::new(
        options
            .as_ref()
            .ok()
            .and_then(|options| options.home.as_ref()),
    );
    let owner = block.self_ty.to_token_stream();
    let offers = offers(&mut block, &owner, &paths);
    let errors = [options.err(), refuse(&block, &offers)];
    let errors = errors
        .into_iter()
        .flatten()
        .map(syn::Error::into_compile_error);
    let implementation = implementation(&block, &paths, &offers);
    quote!(#(#errors)* #block #implementation)
}

/// One method with an attribute: the statement that adds it to the server, or its error.
struct Offer {
    statement: TokenStream,
}

/// Returns the error of a block that cannot have the attribute.
fn refuse(block: &Block, offers: &[Offer]) -> Option<syn::Error> {
    if let Some((path, _)) = &block.of_trait {
        let message = "`#[tools]` is for the methods of a type: write `impl Type { … }`, and call the trait inside";
        return Some(syn::Error::new_spanned(path, message));
    }
    offers.is_empty().then(|| {
        let message = "no method of this block has `#[tool]`, `#[resource]` or `#[prompt]`";
        syn::Error::new_spanned(&block.self_ty, message)
    })
}

/// Reads the methods that have an attribute, and removes the attributes.
fn offers(block: &mut Block, owner: &TokenStream, paths: &Paths) -> Vec<Offer> {
    let methods = block.members.iter_mut().filter_map(|member| match member {
        Member::Function(method) => Some(&mut **method),
        Member::Other(_) => None,
    });
    methods
        .filter_map(|method| offer(method, owner, paths))
        .collect()
}

fn offer(method: &mut item::Function, owner: &TokenStream, paths: &Paths) -> Option<Offer> {
    let place = method.attrs.iter().position(is_ours)?;
    let attribute = method.attrs.remove(place);
    let second = method.attrs.iter().position(is_ours);
    let body = match second.map(|place| method.attrs.remove(place)) {
        Some(second) => Err(syn::Error::new_spanned(
            second,
            "a method is one tool, one resource or one prompt",
        )),
        None => body(&attribute, method, owner, paths),
    };
    strip(&mut method.sig);
    let statement = body.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote!(#error;)
    });
    Some(Offer { statement })
}

/// Returns true for the attribute of a tool, a resource or a prompt.
fn is_ours(attribute: &Attribute) -> bool {
    let words = [Tool::WORD, Resource::WORD, Prompt::WORD];
    word(attribute).is_some_and(|word| words.contains(&word.as_str()))
}

fn word(attribute: &Attribute) -> Option<String> {
    let last = attribute.path().segments.last()?;
    Some(last.ident.to_string())
}

/// Returns the statement that adds a method to the server.
fn body(
    attribute: &Attribute,
    method: &item::Function,
    owner: &TokenStream,
    paths: &Paths,
) -> Result<TokenStream> {
    match word(attribute).as_deref() {
        Some(Resource::WORD) => statement::<Resource>(attribute, method, owner, paths),
        Some(Prompt::WORD) => statement::<Prompt>(attribute, method, owner, paths),
        _ => statement::<Tool>(attribute, method, owner, paths),
    }
}

fn statement<K: Kind>(
    attribute: &Attribute,
    method: &item::Function,
    owner: &TokenStream,
    paths: &Paths,
) -> Result<TokenStream> {
    let options = match &attribute.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => with_owner(list.tokens.clone(), owner),
        Meta::NameValue(value) => {
            let message = "the options are in parentheses";
            return Err(syn::Error::new_spanned(value, message));
        }
    };
    let kind = parse2::<K>(options)?;
    let signature: Signature = parse2(with_owner(method.sig.to_token_stream(), owner))?;
    let function = Function::read_method(&method.attrs, &signature)?;
    let body = kind.body(&function, paths)?;
    let conditions = method
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    let (add, this) = (format_ident!("add_{}", K::WORD), this());
    let own = function
        .capture()
        .map(|_| quote!(let #this = ::std::sync::Arc::clone(&#this);));
    Ok(quote! {
        #(#conditions)*
        let __server = __server.#add({
            #own
            #body
        });
    })
}

/// Replaces `Self` by the type of the block, because the items inside of the expansion have no `Self`.
fn with_owner(tokens: TokenStream, owner: &TokenStream) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => {
            let at = ident.span();
            let owner = owner.clone().into_iter();
            owner
                .map(|mut token| {
                    token.set_span(at);
                    token
                })
                .collect()
        }
        TokenTree::Group(group) => {
            let inner = with_owner(group.stream(), owner);
            let mut replaced = Group::new(group.delimiter(), inner);
            replaced.set_span(group.span());
            TokenStream::from(TokenTree::from(replaced))
        }
        token => TokenStream::from(token),
    });
    replaced.collect()
}

/// Returns a function whose name explains the error of the compiler for a second block with the attribute. An
/// expansion cannot see other blocks, and the error for two implementations of the trait names no reason.
fn once(block: &Block) -> TokenStream {
    let (parameters, _, conditions) = block.generics.split_for_impl();
    let ty = &block.self_ty;
    quote! {
        impl #parameters #ty #conditions {
            #[allow(dead_code)]
            #[doc(hidden)]
            fn tools_stands_on_one_impl_block_of_a_type() {}
        }
    }
}

/// Returns the implementation of the trait for the type of the block.
fn implementation(block: &Block, paths: &Paths, offers: &[Offer]) -> TokenStream {
    let (hidden, this) = (&paths.hidden, this());
    let (parameters, _, conditions) = block.generics.split_for_impl();
    let ty = block.self_ty.to_token_stream();
    let statements = offers.iter().map(|offer| &offer.statement);
    let once = once(block);
    quote! {
        #once

        #[automatically_derived]
        impl #parameters #hidden::Methods for #ty #conditions {
            fn add_to(self: ::std::sync::Arc<Self>, __server: #hidden::Server) -> #hidden::Server {
                #[allow(unused_variables)]
                let #this = self;
                #(#statements)*
                __server
            }
        }
    }
}
