//! The hidden type that a tool's arguments are decoded into: one field for each parameter.
//!
//! The decoder and the schema come from one type, so that they cannot differ.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Result, Type};

use crate::common::{Paths, here};
use crate::keywords::keywords;
use crate::option::owned;
use crate::param::{Absent, Argument, Param};

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
    let mut fields = Vec::new();
    let mut defaults = Vec::new();
    for param in params {
        if let Some(argument) = param.argument() {
            fields.push(Field::new(param, argument, paths)?);
            defaults.extend(default(param, argument)?);
        }
    }
    let declared = fields
        .iter()
        .map(|Field { ident, ty, .. }| quote!(#ident: #ty));
    let (decoder, schema) = (decoder(paths, &fields), schema(paths, &fields));
    Ok(quote! {
        #(#defaults)*
        #[allow(non_snake_case)]
        struct #name { #(#declared,)* }
        #decoder
        #schema
    })
}

/// An argument as a field of the hidden type.
struct Field<'p> {
    ident: &'p Ident,
    ty: &'p Type,
    name: String,
    /// The variable of its value, once it was read.
    value: Ident,
    /// The function that returns its default.
    default: Option<Ident>,
    /// The keywords of its property beside its type.
    keywords: Vec<TokenStream>,
}

impl<'p> Field<'p> {
    fn new(param: &'p Param, argument: &'p Argument, paths: &Paths) -> Result<Self> {
        let default = argument.options.default.as_ref();
        let default = default.map(|_| default_name(argument));
        Ok(Self {
            ident: &argument.ident,
            ty: &param.ty,
            name: argument.name(),
            value: format_ident!("__value_{}", argument.ident),
            keywords: all_keywords(param, argument, default.as_ref(), paths)?,
            default,
        })
    }

    /// Returns the expression that reads it.
    fn read(&self, paths: &Paths) -> TokenStream {
        let Self {
            ty, name, value, ..
        } = self;
        let hidden = &paths.hidden;
        let read = quote_spanned!(here(ty.span())=> read_argument::<#ty, __A>);
        quote!(#hidden::#read(&mut #value, #name, &mut __members)?)
    }

    /// Returns the expression of its value after all members.
    fn take(&self, paths: &Paths) -> TokenStream {
        let Self {
            ty, name, value, ..
        } = self;
        let hidden = &paths.hidden;
        let absent = match &self.default {
            Some(default) => quote!(#default()),
            None => {
                let absent = quote_spanned!(here(ty.span())=> absent_argument::<#ty, __A::Error>);
                quote!(#hidden::#absent(#name)?)
            }
        };
        quote!(match #value {
            ::core::option::Option::Some(__value) => __value,
            ::core::option::Option::None => #absent,
        })
    }
}

fn all_keywords(
    param: &Param,
    argument: &Argument,
    default: Option<&Ident>,
    paths: &Paths,
) -> Result<Vec<TokenStream>> {
    let hidden = &paths.hidden;
    let json = |value: TokenStream| quote!(::core::option::Option::Some(#hidden::serde_json::json!(#value)));
    let mut all = Vec::new();
    if let Some(text) = argument
        .description
        .as_ref()
        .filter(|text| !text.is_empty())
    {
        let text = json(quote!(#text));
        all.push(quote!(("description", #text)));
    }
    if let Some(default) = default {
        all.push(quote!(("default", #hidden::DefaultArgument(#default()).to_json())));
    }
    for (keyword, value) in keywords(param, argument)? {
        let value = json(value);
        all.push(quote!((#keyword, #value)));
    }
    Ok(all)
}

/// Returns the implementation of `Deserialize`. It reads what a derived one reads from an object.
fn decoder(paths: &Paths, fields: &[Field<'_>]) -> TokenStream {
    let (name, hidden) = (type_name(), &paths.hidden);
    let expected = format!("struct {name}");
    let text = name.to_string();
    let names: Vec<_> = fields.iter().map(|field| &field.name).collect();
    let numbers: Vec<_> = (0..fields.len()).collect();
    let count = fields.len();
    let places = fields.iter().map(|Field { value, ty, .. }| {
        quote!(let mut #value: ::core::option::Option<#ty> = ::core::option::Option::None;)
    });
    let reads = fields.iter().map(|field| field.read(paths));
    let takes = fields.iter().map(|field| {
        let (ident, value) = (field.ident, field.take(paths));
        quote!(#ident: #value)
    });
    quote! {
        #[automatically_derived]
        impl<'de> #hidden::serde::Deserialize<'de> for #name {
            fn deserialize<__D: #hidden::serde::Deserializer<'de>>(
                __deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                struct __Visitor;

                impl<'de> #hidden::serde::de::Visitor<'de> for __Visitor {
                    type Value = #name;

                    fn expecting(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        __f.write_str(#expected)
                    }

                    #[allow(non_snake_case)]
                    fn visit_map<__A: #hidden::serde::de::MapAccess<'de>>(
                        self,
                        mut __members: __A,
                    ) -> ::core::result::Result<Self::Value, __A::Error> {
                        #(#places)*
                        while let ::core::option::Option::Some(__number) =
                            __members.next_key_seed(#hidden::ArgumentName(|__name: &str| match __name {
                                #(#names => #numbers,)*
                                _ => #count,
                            }))?
                        {
                            match __number {
                                #(#numbers => #reads,)*
                                _ => {
                                    __members.next_value::<#hidden::serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        ::core::result::Result::Ok(#name { #(#takes,)* })
                    }
                }

                __deserializer.deserialize_struct(#text, &[#(#names),*], __Visitor)
            }
        }
    }
}

/// Returns the implementation of `JsonSchema`.
fn schema(paths: &Paths, fields: &[Field<'_>]) -> TokenStream {
    let (name, hidden) = (type_name(), &paths.hidden);
    let text = name.to_string();
    let arguments = fields.iter().map(|field| {
        let Field {
            ty,
            name,
            default,
            keywords,
            ..
        } = field;
        let has_default = default.is_some();
        let argument = quote_spanned!(here(ty.span())=> argument::<#ty>);
        quote!(.#argument(#name, #has_default, [#(#keywords),*]))
    });
    quote! {
        #[automatically_derived]
        impl #hidden::schemars::JsonSchema for #name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(#text)
            }

            fn json_schema(__generator: &mut #hidden::schemars::SchemaGenerator) -> #hidden::schemars::Schema {
                #[allow(unused_imports)]
                use #hidden::AnyDefault as _;
                #hidden::ArgumentsSchema::new(__generator) #(#arguments)*.build()
            }
        }
    }
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
