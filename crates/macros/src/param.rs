//! One parameter: an argument of the caller, or an ability that the server provides.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, GenericArgument, LitStr, PathArguments, PathSegment, Result, Type};

use crate::attribute::{Entry, entries};
use crate::common::here;
use crate::doc;
use crate::item::TypedInput;

/// A parameter of the function.
pub(crate) struct Param {
    pub(crate) role: Role,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// The role of a parameter.
pub(crate) enum Role {
    /// One argument of the caller.
    Argument(Box<Argument>),
    /// All arguments as one type: the `T` of `Args<T>`.
    Whole(Box<Type>),
    /// A value that the server provides.
    Ability,
}

/// An argument of the caller.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) description: Option<String>,
    pub(crate) options: ArgOptions,
}

impl Argument {
    /// Returns its name on the wire.
    pub(crate) fn name(&self) -> String {
        let rename = self.options.rename.as_ref();
        rename.map_or_else(|| self.ident.unraw().to_string(), LitStr::value)
    }
}

/// The options of `#[arg(…)]`.
#[derive(Default)]
pub(crate) struct ArgOptions {
    pub(crate) default: Option<Absent>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) header: Option<LitStr>,
    pub(crate) pattern: Option<LitStr>,
    /// The valid texts. Empty if all are.
    pub(crate) one_of: Vec<LitStr>,
    /// `min`, `max`, `min_len` and `max_len`, in the order of the source.
    pub(crate) bounds: Vec<(Ident, Expr)>,
}

/// The value of an absent argument.
pub(crate) enum Absent {
    /// The value of `T::default()`.
    Default(Span),
    /// The value of this expression.
    Value(Expr),
}

impl Param {
    pub(crate) fn read(param: &TypedInput) -> Result<Self> {
        Ok(Self {
            role: role(param)?,
            ty: param.ty.clone(),
            span: param.pattern.span(),
        })
    }

    /// Returns the argument, if the parameter is one.
    pub(crate) fn argument(&self) -> Option<&Argument> {
        match &self.role {
            Role::Argument(argument) => Some(argument),
            _ => None,
        }
    }

    /// Returns the expression that extracts the ability; errors about it point at its type.
    pub(crate) fn ability(&self) -> TokenStream {
        let ty = &self.ty;
        quote_spanned!(here(ty.span())=> __call.ability::<#ty>()?)
    }

    /// Returns `T` if the type is `Option<T>`.
    pub(crate) fn optional(&self) -> Option<&Type> {
        inner(&self.ty, "Option")
    }
}

fn role(param: &TypedInput) -> Result<Role> {
    let options = only(&param.attrs, "arg")?;
    if let Some(ability) = only(&param.attrs, "ability")? {
        ability.meta.require_path_only()?;
        return refuse_options(options).map(|()| Role::Ability);
    }
    if let Some(whole) = inner(&param.ty, "Args") {
        return refuse_options(options).map(|()| Role::Whole(Box::new(whole.clone())));
    }
    if is_ability(&param.ty) {
        return refuse_options(options).map(|()| Role::Ability);
    }
    refuse_borrowed(&param.ty)?;
    let argument = Argument {
        ident: ident(param)?,
        description: doc::description(&param.attrs),
        options: options.map_or_else(|| Ok(ArgOptions::default()), ArgOptions::read)?,
    };
    Ok(Role::Argument(Box::new(argument)))
}

/// Returns the only attribute of this name.
fn only<'p>(attributes: &'p [Attribute], name: &str) -> Result<Option<&'p Attribute>> {
    let mut named = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident(name));
    match (named.next(), named.next()) {
        (_, Some(second)) => Err(syn::Error::new_spanned(
            second,
            format!("`#[{name}]` is repeated"),
        )),
        (first, None) => Ok(first),
    }
}

fn refuse_options(options: Option<&Attribute>) -> Result<()> {
    options.map_or(Ok(()), |options| {
        Err(syn::Error::new(
            options.span(),
            "`#[arg]` is for arguments of the caller; the server provides this one",
        ))
    })
}

fn refuse_borrowed(ty: &Type) -> Result<()> {
    match ty {
        Type::Reference(reference) if is_ability(&reference.elem) => {
            Err(syn::Error::new_spanned(ty, "an ability is taken by value"))
        }
        Type::Reference(_) => {
            let message =
                "an argument owns its value: write `String` for `&str`, `Vec<T>` for `&[T]`";
            Err(syn::Error::new_spanned(ty, message))
        }
        Type::ImplTrait(_) => Err(syn::Error::new_spanned(
            ty,
            "an argument has one type: name it",
        )),
        _ => Ok(()),
    }
}

fn ident(param: &TypedInput) -> Result<Ident> {
    param.name().ok_or_else(|| {
        syn::Error::new(
            param.pattern.span(),
            "an argument has a name: write `name: Type` and take it apart inside",
        )
    })
}

/// Returns true for abilities: the last segment of the path and its number of types decide.
fn is_ability(ty: &Type) -> bool {
    let Some(segment) = last_segment(ty) else {
        return false;
    };
    let is_bare = segment.arguments.is_none();
    let takes_one = inner_of(segment).is_some();
    match segment.ident.to_string().as_str() {
        "Context" | "Principal" => is_bare,
        "State" | "Locked" | "Extension" => takes_one,
        "Option" => inner_of(segment)
            .and_then(last_segment)
            .is_some_and(|inner| inner.ident == "Principal"),
        _ => false,
    }
}

/// Returns `T` if `ty` is `wrapper<T>`.
fn inner<'t>(ty: &'t Type, wrapper: &str) -> Option<&'t Type> {
    last_segment(ty)
        .filter(|segment| segment.ident == wrapper)
        .and_then(inner_of)
}

/// Returns the last segment of a path type.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

fn inner_of(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

impl ArgOptions {
    fn read(attribute: &Attribute) -> Result<Self> {
        let mut options = Self::default();
        for entry in attribute.parse_args_with(entries)? {
            options.set(&entry)?;
        }
        Ok(options)
    }

    fn set(&mut self, entry: &Entry) -> Result<()> {
        match entry.name.to_string().as_str() {
            "default" => {
                let value = entry.optional_expression()?;
                self.default =
                    Some(value.map_or_else(|| Absent::Default(entry.name.span()), Absent::Value));
            }
            "rename" => self.rename = Some(entry.string()?),
            "header" => self.header = Some(entry.string()?),
            "pattern" => self.pattern = Some(entry.string()?),
            "one_of" => self.one_of = entry.strings()?,
            "min" | "max" | "min_len" | "max_len" => {
                self.bounds.push((entry.name.clone(), entry.expression()?))
            }
            _ => return Err(entry.unknown(KNOWN)),
        }
        Ok(())
    }

    /// Returns the first option that needs a JSON Schema.
    pub(crate) fn schema_only(&self) -> Option<Span> {
        let texts = [
            self.header.as_ref(),
            self.pattern.as_ref(),
            self.one_of.first(),
        ]
        .into_iter()
        .flatten()
        .map(LitStr::span);
        self.bounds
            .iter()
            .map(|(name, _)| name.span())
            .chain(texts)
            .next()
    }
}

const KNOWN: &str =
    "`default`, `min`, `max`, `min_len`, `max_len`, `pattern`, `one_of`, `rename` and `header`";
