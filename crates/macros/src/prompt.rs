//! `#[prompt]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Result, Type};

use crate::arguments::refuse_twins;
use crate::attribute::entries;
use crate::common::{Common, Paths, completions, here, needs};
use crate::expansion::Kind;
use crate::function::Function;
use crate::option::{Callback, owned};
use crate::param::{Absent, Argument, Param, Role};

/// The options of `#[prompt]`.
#[derive(Default)]
pub(crate) struct Prompt {
    common: Common,
    completions: Vec<Callback>,
}

const KNOWN: &str =
    "`name`, `title`, `description`, `icon`, `scopes`, `tags`, `complete` and `crate`";

impl Parse for Prompt {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut prompt = Self::default();
        for entry in entries(input)? {
            if entry.name == "complete" {
                prompt.completions = entry.callbacks()?;
            } else if !prompt.common.take(&entry)? {
                return Err(entry.unknown(KNOWN));
            }
        }
        Ok(prompt)
    }
}

impl Kind for Prompt {
    const WORD: &'static str = "prompt";

    fn common(&self) -> &Common {
        &self.common
    }

    fn body(&self, function: &Function, paths: &Paths) -> Result<TokenStream> {
        refuse_twins(&function.params)?;
        let hidden = &paths.hidden;
        let name = self.common.name(function);
        let mut calls = vec![self.common.calls(function, paths)];
        let mut values = Vec::new();
        for param in &function.params {
            calls.push(declaration(param, paths)?);
            values.push(value(param)?);
        }
        let names: Vec<String> = function
            .params
            .iter()
            .filter_map(Param::argument)
            .map(Argument::name)
            .collect();
        calls.extend([completions(&self.completions, &names)?, needs(function)]);
        let (future, capture) = (function.future(&values), function.capture());
        let on_get = quote_spanned!(here(function.result_span())=> on_get);
        Ok(quote! {
            #hidden::Prompt::new(#name) #(#calls)*.#on_get(#capture |__call: &#hidden::PromptCall<'_>| {
                ::core::result::Result::Ok(#future)
            })
        })
    }
}

/// Returns the builder call that declares an argument.
fn declaration(param: &Param, paths: &Paths) -> Result<TokenStream> {
    let Some(argument) = param.argument() else {
        return Ok(TokenStream::new());
    };
    if let Some(span) = argument.options.schema_only() {
        return Err(syn::Error::new(
            span,
            "the arguments of prompts have no schema; check the value inside",
        ));
    }
    let hidden = &paths.hidden;
    let name = argument.name();
    let is_required = param.optional().is_none() && argument.options.default.is_none();
    let presence = if is_required {
        quote!(required)
    } else {
        quote!(optional)
    };
    let description = argument
        .description
        .as_ref()
        .map(|text| quote!(.with_description(#text)));
    let ty = param.optional().unwrap_or(&param.ty);
    let read = quote_spanned!(here(ty.span())=> argument_type::<#ty>);
    Ok(quote!(.argument(#hidden::PromptArgument::#presence(#name) #description).#read(#name)))
}

/// Returns the expression that is passed for a parameter.
fn value(param: &Param) -> Result<TokenStream> {
    let argument = match &param.role {
        Role::Argument(argument) => argument,
        Role::Ability => return Ok(param.ability()),
        Role::Whole(_) => {
            return Err(syn::Error::new(
                param.span,
                "the arguments of prompts are taken one by one",
            ));
        }
    };
    let name = argument.name();
    let default = argument.options.default.as_ref();
    match (param.optional(), default) {
        (Some(_), Some(_)) => Err(syn::Error::new(
            param.ty.span(),
            "an argument with a default is never `None`: leave out the `Option`",
        )),
        (Some(ty), None) => Ok(optional(&name, ty)),
        (None, None) => Ok(required(&name, &param.ty)),
        (None, Some(default)) => {
            let (given, default) = (optional(&name, &param.ty), absent(default));
            Ok(
                quote!(match #given { ::core::option::Option::Some(value) => value, ::core::option::Option::None => #default }),
            )
        }
    }
}

fn required(name: &str, ty: &Type) -> TokenStream {
    let span: Span = ty.span();
    quote_spanned!(here(span)=> __call.argument::<#ty>(#name)?)
}

fn optional(name: &str, ty: &Type) -> TokenStream {
    quote_spanned!(here(ty.span())=> __call.optional::<#ty>(#name)?)
}

fn absent(default: &Absent) -> TokenStream {
    match default {
        Absent::Default(span) => quote_spanned!(here(*span)=> ::core::default::Default::default()),
        Absent::Value(value) => owned(value),
    }
}
