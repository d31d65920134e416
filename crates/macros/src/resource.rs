//! `#[resource]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{LitStr, Result, Token};

use crate::arguments::refuse_twins;
use crate::attribute::{Entry, entries};
use crate::common::{Common, Paths, completions, enumerate, here, needs};
use crate::expansion::Kind;
use crate::function::Function;
use crate::option::{Callback, Text};
use crate::param::{Argument, Param, Role};
use crate::template::variables;

/// The options of `#[resource]`.
pub(crate) struct Resource {
    template: LitStr,
    variables: Vec<String>,
    common: Common,
    mime: Option<Text>,
    completions: Vec<Callback>,
}

const KNOWN: &str =
    "`name`, `title`, `description`, `icon`, `scopes`, `mime`, `complete` and `crate`";

impl Parse for Resource {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let template: LitStr = input.parse().map_err(|error| {
            syn::Error::new(
                error.span(),
                "the URI or its template comes first: `#[resource(\"docs://{slug}\")]`",
            )
        })?;
        let mut resource = Self {
            variables: variables(&template.value())
                .map_err(|reason| malformed(&template, &reason))?,
            template,
            common: Common::default(),
            mime: None,
            completions: Vec::new(),
        };
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        for entry in entries(input)? {
            resource.set(&entry)?;
        }
        Ok(resource)
    }
}

fn malformed(template: &LitStr, reason: &str) -> syn::Error {
    syn::Error::new(template.span(), format!("invalid URI template: {reason}"))
}

impl Resource {
    fn set(&mut self, entry: &Entry) -> Result<()> {
        if entry.name == "mime" {
            self.mime = Some(entry.text()?);
        } else if entry.name == "complete" {
            self.completions = entry.callbacks()?;
        } else if !self.common.take(entry)? {
            return Err(entry.unknown(KNOWN));
        }
        Ok(())
    }

    /// Checks that each variable has a parameter, and each argument a variable.
    fn agree(&self, function: &Function) -> Result<()> {
        refuse_twins(&function.params)?;
        let params = function
            .params
            .iter()
            .filter_map(|param| Some((param, param.argument()?.name())));
        for (param, name) in params.clone() {
            if !self.variables.contains(&name) {
                return Err(syn::Error::new(param.span, self.stray(&name)));
            }
        }
        for variable in &self.variables {
            if !params.clone().any(|(_, name)| name == *variable) {
                let message =
                    format!("the variable `{variable}` of this template has no parameter");
                return Err(syn::Error::new(self.template.span(), message));
            }
        }
        Ok(())
    }

    fn stray(&self, name: &str) -> String {
        let variables = match self.variables.as_slice() {
            [] => "which has none".to_owned(),
            names => format!("which has {}", enumerate(names)),
        };
        format!("`{name}` is neither an ability nor a variable of the URI, {variables}")
    }
}

impl Kind for Resource {
    const WORD: &'static str = "resource";

    fn common(&self) -> &Common {
        &self.common
    }

    fn body(&self, function: &Function, paths: &Paths) -> Result<TokenStream> {
        self.agree(function)?;
        let hidden = &paths.hidden;
        let (template, name) = (&self.template, self.common.name(function));
        let common = self.common.calls(function, paths);
        let mime = self.mime.as_ref().map(|mime| quote!(.mime(#mime)));
        let completions = completions(&self.completions, &self.variables)?;
        let needs = needs(function);
        let values = function
            .params
            .iter()
            .map(value)
            .collect::<Result<Vec<_>>>()?;
        let (future, capture) = (function.future(&values), function.capture());
        let on_read = quote_spanned!(here(function.result_span())=> on_read);
        Ok(quote! {
            #hidden::Resource::new(#template, #name) #common #mime #completions #needs
                .#on_read(#capture |__call: &#hidden::ReadCall<'_>| ::core::result::Result::Ok(#future))
        })
    }
}

/// Returns the expression that is passed for a parameter.
fn value(param: &Param) -> Result<TokenStream> {
    match &param.role {
        Role::Ability => Ok(param.ability()),
        Role::Whole(_) => Err(syn::Error::new(
            param.span,
            "a resource does not accept `Args<T>`; use one parameter for each variable",
        )),
        Role::Argument(argument) => variable(param, argument),
    }
}

fn variable(param: &Param, argument: &Argument) -> Result<TokenStream> {
    let options = &argument.options;
    if let Some(span) = options.schema_only() {
        return Err(syn::Error::new(
            span,
            "a variable has no schema; check its value in the function",
        ));
    }
    if options.default.is_some() {
        return Err(syn::Error::new(
            param.ty.span(),
            "a variable has no default; use an `Option`",
        ));
    }
    let name = argument.name();
    Ok(match param.optional() {
        Some(ty) => quote_spanned!(here(ty.span())=> __call.optional::<#ty>(#name)?),
        None => {
            let ty = &param.ty;
            quote_spanned!(here(ty.span())=> __call.variable::<#ty>(#name)?)
        }
    })
}
